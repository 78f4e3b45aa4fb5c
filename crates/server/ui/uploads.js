// Uploads that are running. They go on while other views are shown; whoever closes the page is asked first, and what was not done whole stays on the screen.
import {grouped, h, say, toast} from "./dom.js";
import {upload} from "./upload.js";

const running = new Set();
addEventListener("beforeunload", event => { if (running.size > 0) event.preventDefault(); });

// What is in the collection, and what is not.
function told({inserted, rejected, named, errors}) {
  return [`${grouped(inserted)} indexed`,
    rejected > 0 && `${grouped(rejected)} not taken: ${errors[0]}${rejected > 1 ? " (the first of them)" : ""}`,
    named > 0 && `${grouped(named)} without an id are named by file and line`].filter(Boolean).join("; ");
}

// Puts the lines of a file into a collection. Resolves when it is over, well or not.
export async function start(file, collection) {
  const stopping = new AbortController();
  let state = {share: 0, inserted: 0, rejected: 0, named: 0, errors: []};
  const progress = h("progress", {max: 1, value: 0, "aria-label": `Progress of ${file.name}`});
  const text = h("p", {class: "small"}, "0 indexed");
  const button = h("button", {type: "button", class: "quiet", onclick: () => stopping.abort()}, "Stop");
  const card = h("section", {class: "upload", "aria-label": `Upload of ${file.name}`},
    h("p", {}, h("strong", {}, file.name), ` into ${collection.name}`), progress, h("div", {class: "row apart"}, text, button));
  document.getElementById("uploads").append(card);
  running.add(card);
  const over = (title, isWhole) => {
    running.delete(card);
    say(title);
    if (isWhole) { card.remove(); toast(`${collection.name}: ${told(state)}.`); return; }
    card.classList.add("bad");
    progress.remove();
    text.textContent = `${title}: ${told(state)}.`;
    button.replaceWith(h("button", {type: "button", class: "quiet", onclick: () => card.remove()}, "Close"));
  };
  try {
    state = await upload(file, collection, stopping.signal, now => {
      state = now;
      progress.value = now.share;
      text.textContent = told(now);
    });
    over("Done", state.rejected === 0 && state.named === 0);
  } catch (error) {
    const why = error.name === "AbortError" ? "Stopped" : `Broke off (${error.message.replace(/\.$/, "")})`;
    over(`${why}, the rest of the file is not in the collection; send it again to go on`, false);
  }
}
