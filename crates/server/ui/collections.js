// Collections: make, fill, measure, delete.
import {api} from "./api.js";
import {bytes, confirm, fresh, grouped, h, labelled, say, share, show, similarity, slider, toast} from "./dom.js";
import {guess, upload} from "./upload.js";

export async function collections(page, _, signal) {
  const list = h("div", {class: "grid"});
  const refresh = async () => {
    const all = await api.collections();
    show(list, all.length ? all.map(one => card(one, refresh, signal)) : h("div", {class: "card empty"}, "There are no collections yet. Make the first one below."));
  };
  show(page, h("h1", {}, "Collections"),
    h("p", {class: "lede"}, "A collection is a named set of documents with the same fields. It is made for a threshold: from which similarity on documents are to be found."),
    list, h("h2", {}, "Make a collection"), maker(refresh, signal));
  await refresh();
}

function card(collection, refresh, signal) {
  const numbers = h("div", {});
  const fields = Object.entries(collection.fields).map(([name, field]) =>
    h("span", {class: "chip"}, `${name}: ${field.kind}${field.kind === "text" ? ` of ${field.n} ${field.unit}` : ""}`));
  const measure = async () => {
    const stats = await api.stats(collection.name);
    const stat = (value, name) => h("div", {class: "stat"}, h("b", {}, value), h("span", {}, name));
    show(numbers, h("div", {class: "stats"},
      stat(bytes(stats.bytes_per_document), "per document"),
      stat(stats.mean_bucket.toFixed(2), "mean bucket"),
      stat(grouped(stats.largest_bucket), "largest bucket"),
      stat(stats.bucket_skew.toFixed(1), "bucket skew"),
      stat(stats.candidates_per_document.toFixed(2), "compared per search"),
      stat(`${(100 * stats.candidate_ratio).toPrecision(2)}%`, "of the collection"),
      stat(grouped(stats.parts), stats.parts === 1 ? "part" : "parts"),
      stat(grouped(stats.removed), "removed")));
  };
  const remove = async () => {
    if (!await confirm(`Delete ${collection.name}?`, `${grouped(collection.documents)} documents will be gone for good.`, "Delete it")) return;
    await api.remove(collection.name);
    toast(`${collection.name} is gone.`);
    await refresh();
  };
  return h("article", {class: "card stack", "data-collection": collection.name},
    h("div", {class: "row apart"}, h("h2", {}, collection.name), h("span", {class: "chip"}, `${grouped(collection.documents)} documents`)),
    h("div", {class: "row"}, fields),
    h("p", {class: "small muted"}, `Finds ${share(Math.min(...collection.sketches.map(sketch => sketch.recall)))} of the documents at ${collection.threshold}. Keeps ${collection.keeps === "documents" ? "documents: similarities are exact" : "sketches only: similarities are estimates"}.`),
    numbers,
    filler(() => collection, refresh, signal),
    h("div", {class: "row apart"},
      h("div", {class: "row"}, h("a", {class: "button", href: `#/search/${encodeURIComponent(collection.name)}`}, "Search"), h("button", {type: "button", onclick: measure}, "Statistics")),
      h("button", {type: "button", class: "danger", onclick: remove}, "Delete")));
}

// A place to drop a file, with a progress bar.
function filler(collection, refresh, signal) {
  const input = h("input", {type: "file", accept: ".jsonl,.ndjson,.json,.gz", class: "sr", id: fresh("file"), onchange: () => start(input.files[0])});
  const progress = h("progress", {max: 1, value: 0, "aria-label": "Progress"}), text = h("p", {class: "small muted"});
  const under = h("div", {hidden: true}, progress, text);
  const zone = h("div", {class: "dropzone"}, "Drop a JSONL file to index it, or ", h("label", {for: input.id, class: "button", style: {display: "inline-block", margin: "0"}}, "choose one"), input, under);
  zone.addEventListener("dragover", event => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", event => { event.preventDefault(); zone.classList.remove("over"); start(event.dataTransfer.files[0]); });
  async function start(file) {
    if (!file) return;
    under.hidden = false;
    try {
      const done = await upload(file, await collection(), signal, state => {
        progress.value = state.share;
        text.textContent = `${grouped(state.inserted)} indexed${state.rejected ? `, ${grouped(state.rejected)} not taken` : ""}`;
      });
      say(`${done.inserted} documents indexed`);
      toast(`${grouped(done.inserted)} documents indexed${done.rejected ? `; ${grouped(done.rejected)} not taken: ${done.errors[0]}` : ""}.`, done.rejected > 0);
      await refresh();
    } catch (error) {
      if (error.name !== "AbortError") toast(error.message, true);
    }
  }
  return zone;
}

function maker(refresh, signal) {
  const name = h("input", {type: "text", required: true, pattern: "[A-Za-z0-9_\\-][A-Za-z0-9_.\\-]{0,99}", placeholder: "articles", autocomplete: "off"});
  const rows = h("div", {});
  const add = (field = {name: "", kind: "text", n: 5}) => rows.append(fieldRow(field));
  const threshold = slider({label: "Threshold", min: .5, max: 1, step: .01, value: .8, text: similarity,
    hint: "From which similarity on documents are found. 0.8 finds near-copies; 0.6 finds texts that share most of their phrases, and compares more."});
  const recall = slider({label: "Recall", min: .8, max: .99, step: .01, value: .95, text: value => share(value),
    hint: "The share of documents at the threshold that must be found; above the threshold it is higher."});
  const keep = fresh("keep");
  const option = (value, title, why, checked) => h("label", {class: "choice"}, h("input", {type: "radio", name: keep, value, checked}), h("span", {}, h("strong", {}, title), h("span", {class: "hint"}, why)));
  const keeps = h("fieldset", {}, h("legend", {class: "label"}, "What is kept"),
    option("documents", "Documents", "Similarities are exact, and you can see what is shared.", true),
    option("sketches", "Sketches only", "About 320 bytes a document; similarities are estimates with an error bar.", false));
  const file = h("input", {type: "file", accept: ".jsonl,.ndjson,.json,.gz", onchange: async () => {
    const found = await guess(file.files[0]).catch(error => { toast(error.message, true); return null; });
    if (!found) return;
    show(rows);
    found.forEach(add);
    if (!name.value) name.value = file.files[0].name.replace(/\.(jsonl|ndjson|json|gz)/g, "").replace(/[^A-Za-z0-9_-]+/g, "-");
  }});
  const progress = h("progress", {max: 1, value: 0, hidden: true, "aria-label": "Progress"});
  const form = h("form", {class: "card", onsubmit: async event => {
    event.preventDefault();
    const fields = Object.fromEntries([...rows.children].map(row => row.field()).filter(([key]) => key));
    const settings = {fields, threshold: threshold.value, recall: recall.value, keeps: form.querySelector(`[name=${keep}]:checked`).value};
    try {
      const made = await api.create(name.value, settings);
      if (file.files[0]) {
        progress.hidden = false;
        const done = await upload(file.files[0], made, signal, state => { progress.value = state.share; });
        toast(`${made.name} has ${grouped(done.inserted)} documents${done.rejected ? `; ${grouped(done.rejected)} were not taken: ${done.errors[0]}` : ""}.`, done.rejected > 0);
      } else toast(`${made.name} is ready. Drop a file onto it.`);
      name.value = "";
      file.value = "";
      progress.hidden = true;
      await refresh();
    } catch (error) {
      if (error.name !== "AbortError") toast(error.message, true);
    }
  }},
    h("div", {class: "two"},
      h("div", {class: "stack"},
        labelled("Name", name, "Letters, digits, - _ and ."),
        labelled("Start from a file", file, "Optional: JSON lines. Its fields are proposed below, and its documents indexed."),
        h("fieldset", {}, h("legend", {class: "label"}, "Fields"), rows, h("button", {type: "button", class: "quiet", onclick: () => add()}, "+ Add a field"),
          h("p", {class: "hint"}, "Text is compared by shingles of so many words: 5 finds copied sentences, 1 finds the same vocabulary. Values are compared as sets: tags, users, products."))),
      h("div", {class: "stack"}, threshold.element, recall.element, keeps)),
    progress, h("div", {class: "row end"}, h("button", {class: "primary"}, "Make the collection")));
  add({name: "text", kind: "text", n: 5});
  return form;
}

function fieldRow({name, kind, n}) {
  const field = h("input", {type: "text", value: name, required: true}), words = h("input", {type: "number", min: 1, max: 100, value: n ?? 5});
  const size = labelled("Words", words);
  const type = h("select", {onchange: () => { size.hidden = type.value !== "text"; }}, ["text", "values"].map(one => h("option", {value: one, selected: one === kind}, one)));
  const row = h("div", {class: "fieldrow"}, labelled("Name", field), labelled("Kind", type), size,
    h("button", {type: "button", class: "quiet", "aria-label": "Remove this field", onclick: () => row.remove()}, "✕"));
  size.hidden = kind !== "text";
  row.field = () => [field.value.trim(), type.value === "text" ? {kind: "text", n: Number(words.value)} : {kind: "values"}];
  return row;
}
