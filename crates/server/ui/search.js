// Search: a text, a file or a document; cards with error bars; side by side.
import {api} from "./api.js";
import {bar} from "./charts.js";
import {fresh, grouped, h, labelled, say, share, show, similarity, slider, svg, toast, words} from "./dom.js";
import {sideBySide} from "./diff.js";

export async function search(page, [wanted, id], signal) {
  const all = await api.collections();
  if (all.length === 0) {
    show(page, h("h1", {}, "Find what is similar"),
      h("div", {class: "card empty"}, h("p", {}, "There are no collections yet."), h("a", {class: "button", href: "#/collections"}, "Make one"),
        h("p", {class: "small"}, "Or start the server with --demo to look around.")));
    return;
  }
  let collection = all.find(one => one.name === wanted) ?? all[0];
  const results = h("section", {"aria-label": "Results"}, h("div", {class: "card empty"}, "What is similar is shown here."));
  const select = h("select", {onchange: () => { location.hash = `#/search/${encodeURIComponent(select.value)}`; }},
    all.map(one => h("option", {value: one.name, selected: one === collection}, `${one.name} (${grouped(one.documents)} documents)`)));

  const inputs = contentInputs(collection);
  const ids = h("datalist", {id: fresh("ids")});
  const pick = h("input", {type: "text", list: ids.id, autocomplete: "off", placeholder: "the id of a document", value: id ?? ""});
  const threshold = slider({label: "At least this similar", min: Math.min(.3, collection.threshold), max: 1, step: collection.threshold < .05 ? .001 : .01, value: collection.threshold, text: similarity,
    hint: `The collection was made for ${collection.threshold} and above; below, it misses more.`});
  const limit = h("select", {}, [10, 25, 100].map(n => h("option", {value: n}, `${n} matches`)));

  let mode = id ? "id" : "text";
  const byText = h("div", {class: "stack", role: "tabpanel"}, inputs.elements, h("p", {class: "hint"}, "Paste a text, or drop a file onto the field."));
  const random = h("button", {type: "button", class: "quiet", onclick: () => { const list = [...ids.children]; if (list.length) { pick.value = list[Math.floor(Math.random() * list.length)].value; run(); } }}, "Pick one for me");
  const byId = h("div", {class: "stack", role: "tabpanel"}, labelled("Document", pick), ids, random);
  const tab = (name, label) => h("button", {type: "button", role: "tab", onclick: () => choose(name)}, label);
  const tabs = {text: tab("text", "Text or file"), id: tab("id", "Document")};
  const choose = name => {
    mode = name;
    byText.hidden = name !== "text";
    byId.hidden = name !== "id";
    for (const [key, button] of Object.entries(tabs)) button.setAttribute("aria-selected", String(key === name));
  };
  choose(mode);

  const form = h("form", {class: "card stack", onsubmit: event => { event.preventDefault(); run(); }},
    labelled("Collection", select),
    h("div", {class: "tabs", role: "tablist", "aria-label": "What to look for"}, Object.values(tabs)),
    byText, byId, threshold.element,
    h("div", {class: "row apart"}, h("div", {}, limit), h("button", {class: "primary"}, "Search")));
  limit.setAttribute("aria-label", "How many matches");

  async function run() {
    const query = {limit: Number(limit.value)};
    // As it is, it is that of the collection, where fields have their own too.
    if (threshold.value !== collection.threshold) query.threshold = threshold.value;
    if (Object.values(collection.fields).some(field => field.kind === "image")) query.explain = true;
    let asked;
    if (mode === "id") {
      if (!pick.value) { pick.focus(); return; }
      asked = {id: pick.value};
    } else {
      const fields = inputs.fields();
      if (Object.keys(fields).length === 0) { inputs.focus(); toast("There is nothing to look for: paste a text first."); return; }
      asked = {document: {fields}};
      query.fields = Object.keys(fields);
    }
    results.setAttribute("aria-busy", "true");
    try {
      render(results, collection, asked, await api.search(collection.name, {...asked, ...query}, signal), query.threshold ?? usual(collection, query.fields));
    } catch (error) {
      if (error.name !== "AbortError") show(results, h("p", {class: "notice warn", role: "alert"}, error.message));
    } finally {
      results.removeAttribute("aria-busy");
    }
  }

  show(page, h("h1", {}, "Find what is similar"),
    h("p", {class: "lede"}, "Every match comes with its similarity and how sure that is."),
    h("div", {class: "split"}, form, results));
  api.documents(collection.name, 0, 200).then(list => show(ids, list.documents.map(one => h("option", {value: one.id})))).catch(() => {});
  if (id) await run();
}

// The threshold of a search that names none: pictures alone have their own.
function usual(collection, names = Object.keys(collection.fields)) {
  const own = {local: .01, thumbnail: .5};
  const isPicture = name => collection.fields[name].kind === "image";
  if (!names.every(isPicture) || Object.keys(collection.fields).every(isPicture)) return collection.threshold;
  return Math.min(collection.threshold, Math.max(...names.map(name => own[collection.fields[name].features] ?? .01)));
}

// An input for each field of the schema.
function contentInputs(collection) {
  const entries = Object.entries(collection.fields).sort(([, a], [, b]) => (b.kind === "text") - (a.kind === "text") || b.weight - a.weight);
  const controls = entries.map(([name, field], i) => {
    const control = field.kind === "image"
      ? pictureInput()
      : field.kind === "text"
      ? h("textarea", {rows: i === 0 ? 9 : 2, style: i === 0 ? {} : {"min-height": "3rem"}})
      : h("input", {type: "text", placeholder: "values, separated by commas"});
    if (field.kind === "text") droppable(control);
    return {name, kind: field.kind, control, element: labelled(name, control)};
  });
  return {
    elements: controls.map(one => one.element),
    focus: () => controls[0].control.focus(),
    fields: () => Object.fromEntries(controls.filter(one => (one.kind === "image" ? one.control.picture : one.control.value.trim())).map(one =>
      [one.name, one.kind === "image" ? one.control.picture : one.kind === "text" ? one.control.value : one.control.value.split(",").map(value => value.trim()).filter(Boolean)])),
  };
}

// A file that is read as soon as it is chosen; `picture` is its content in base64.
function pictureInput() {
  const input = h("input", {type: "file", accept: "image/*", onchange: () => {
    const [file] = input.files;
    input.picture = undefined;
    if (!file) return;
    const reader = new FileReader();
    reader.onload = () => { input.picture = reader.result; };
    reader.readAsDataURL(file);
  }});
  return input;
}

// A picture of a document, from its content in base64 or with a head; `points` are places on it in thousandths of its sides.
function picture(content, name, points = []) {
  const kinds = {"/9j": "jpeg", "iVB": "png", "UklG": "webp", "R0l": "gif", "Qk": "bmp"};
  const kind = Object.entries(kinds).find(([start]) => content.startsWith(start))?.[1];
  const source = content.startsWith("data:image/") ? content : kind && `data:image/${kind};base64,${content}`;
  if (!source) return h("span", {class: "small muted"}, "a picture that browsers do not show");
  return h("span", {class: "thumbnail"}, h("img", {alt: name, src: source}),
    svg("svg", {viewBox: "0 0 1000 1000", preserveAspectRatio: "none", "aria-hidden": "true"},
      points.map(([x, y]) => svg("ellipse", {cx: x, cy: y, rx: 14, ry: 14, "vector-effect": "non-scaling-stroke"}))));
}

export function droppable(area) {
  area.addEventListener("dragover", event => { event.preventDefault(); area.classList.add("drop"); });
  area.addEventListener("dragleave", () => area.classList.remove("drop"));
  area.addEventListener("drop", async event => {
    event.preventDefault();
    area.classList.remove("drop");
    const [file] = event.dataTransfer.files;
    if (!file) return;
    if (file.size > 1 << 20) { toast("That file is larger than 1 MiB, the most that a document may have.", true); return; }
    area.value = await file.text();
    area.dispatchEvent(new Event("input", {bubbles: true}));
  });
}

function render(place, collection, asked, answer, threshold) {
  const facts = h("div", {class: "facts"},
    h("span", {}, h("b", {}, grouped(answer.n_matches)), answer.n_matches === 1 ? " match" : " matches"),
    h("span", {}, "finds ", h("b", {}, share(answer.shown)), ` of those at ${threshold}`, answer.shown < answer.recall ? ", more above" : ""),
    h("span", {}, h("b", {}, grouped(answer.n_candidates)), " compared"),
    h("span", {}, h("b", {}, `${answer.took_ms.toFixed(1)} ms`)));
  const cards = answer.matches.map(match => card(collection, asked, match, threshold));
  show(place, facts, answer.warnings.map(warning => h("p", {class: "notice warn"}, warning)),
    cards.length ? cards : h("div", {class: "card empty"}, "Nothing in this collection is that similar. Try a lower similarity."));
  say(`${answer.n_matches} matches`);
  if (matchMedia("(max-width: 820px)").matches) place.scrollIntoView({block: "start"});
}

function card(collection, asked, match, threshold) {
  const snippet = h("p", {class: "snippet"});
  const button = h("button", {type: "button", class: "match", onclick: async () => {
    const query = asked.id !== undefined ? {id: asked.id} : asked;
    const compared = await api.compare({collection: collection.name, documents: [query, {id: match.id}], passages: true});
    sideBySide(compared, [asked.id ?? "Your text", match.id]);
  }},
    h("span", {class: "head"}, h("span", {class: "id"}, match.id), h("span", {class: "score"}, similarity(match.similarity))),
    bar(match.similarity, match.estimate, threshold),
    h("span", {class: "small muted"}, match.exact !== undefined ? "exact; " : "", `estimated ${words(match.estimate)}`),
    match.fields.length > 1 && h("span", {class: "fieldbars"}, match.fields.map(field => {
      const value = field.exact ?? field.estimate.value?.value ?? 0;
      return [h("span", {}, field.field), bar(value, field.estimate), h("span", {}, similarity(value))];
    })),
    match.fields.filter(field => collection.fields[field.field]?.kind === "image" && field.explanation?.shared.length)
      .map(field => h("span", {class: "small"}, ` ${field.field}: ${field.explanation.shared[0].text}`)),
    snippet);
  if (collection.keeps === "documents") {
    api.document(collection.name, match.id).then(document => {
      const isPicture = name => collection.fields[name]?.kind === "image";
      for (const [name, content] of Object.entries(document.fields).filter(([name]) => isPicture(name))) {
        const points = match.fields.find(field => field.field === name)?.explanation?.points ?? [];
        const own = asked.document?.fields[name];
        snippet.before(h("span", {class: "thumbnails"}, own && picture(own, `your ${name}`, points.map(([x, y]) => [x, y])), picture(content, name, points.map(([, , x, y]) => [x, y]))));
      }
      const texts = Object.entries(document.fields).filter(([name]) => !isPicture(name)).map(([, content]) => typeof content === "string" ? content : Array.isArray(content) ? content.join(", ") : Object.keys(content).join(", "));
      snippet.textContent = texts.sort((a, b) => b.length - a.length)[0]?.slice(0, 300) ?? "";
    }).catch(() => {});
  }
  return button;
}
