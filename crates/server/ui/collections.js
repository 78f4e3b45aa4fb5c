// Collections: make, fill, measure, delete.
import {api} from "./api.js";
import {bytes, confirm, fresh, grouped, h, labelled, say, share, show, similarity, slider, toast} from "./dom.js";
import {advice, guess} from "./fields.js";
import {start} from "./uploads.js";

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
    filler(collection, refresh, signal),
    h("div", {class: "row apart"},
      h("div", {class: "row"}, h("a", {class: "button", href: `#/search/${encodeURIComponent(collection.name)}`}, "Search"), h("button", {type: "button", onclick: measure}, "Statistics")),
      h("button", {type: "button", class: "danger", onclick: remove}, "Delete")));
}

// Puts a file into a collection; the view shows the result if it is still there.
async function fill(file, collection, refresh, signal) {
  await start(file, collection);
  if (!signal.aborted) await refresh();
}

// A place to drop a file.
function filler(collection, refresh, signal) {
  const take = file => { if (file) fill(file, collection, refresh, signal); };
  const input = h("input", {type: "file", accept: ".jsonl,.ndjson,.json,.gz", class: "sr", id: fresh("file"), onchange: () => take(input.files[0])});
  const zone = h("div", {class: "dropzone"}, "Drop a JSONL file to index it, or ", h("label", {for: input.id, class: "button", style: {display: "inline-block", margin: "0"}}, "choose one"), input);
  zone.addEventListener("dragover", event => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", event => { event.preventDefault(); zone.classList.remove("over"); take(event.dataTransfer.files[0]); });
  return zone;
}

function maker(refresh, signal) {
  const name = h("input", {type: "text", required: true, pattern: "[A-Za-z0-9_\\-][A-Za-z0-9_.\\-]{0,99}", placeholder: "articles", autocomplete: "off"});
  const rows = h("div", {}), others = h("p", {class: "hint", hidden: true});
  const judge = () => {
    const all = [...rows.children], compared = all.filter(row => row.field()).length;
    for (const row of all) row.judge(compared);
  };
  const add = (field = {name: "", kind: "text", n: 5}) => { rows.append(fieldRow(field, judge)); judge(); };
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
    found.fields.forEach(add);
    others.hidden = found.others.length === 0;
    others.textContent = `Left out, because only texts and lists can be compared: ${found.others.map(field => field.name).join(", ")}.`;
    if (!name.value) name.value = file.files[0].name.replace(/\.(jsonl|ndjson|json|gz)/g, "").replace(/[^A-Za-z0-9_-]+/g, "-");
  }});
  const form = h("form", {class: "card", onsubmit: async event => {
    event.preventDefault();
    const fields = Object.fromEntries([...rows.children].map(row => row.field()).filter(field => field?.[0]));
    if (Object.keys(fields).length === 0) { toast("Choose a field to compare documents by.", true); return; }
    const settings = {fields, threshold: threshold.value, recall: recall.value, keeps: form.querySelector(`[name=${keep}]:checked`).value};
    try {
      const made = await api.create(name.value, settings);
      const [content] = file.files;
      if (content) fill(content, made, refresh, signal);
      else toast(`${made.name} is ready. Drop a file onto it.`);
      name.value = "";
      file.value = "";
      await refresh();
    } catch (error) {
      if (error.name !== "AbortError") toast(error.message, true);
    }
  }},
    h("div", {class: "two"},
      h("div", {class: "stack"},
        labelled("Name", name, "Letters, digits, - _ and ."),
        labelled("Start from a file", file, "Optional: JSON lines. Its fields are proposed below, and its documents indexed. Only fields that are compared are kept."),
        h("fieldset", {}, h("legend", {class: "label"}, "Fields"), rows, others, h("button", {type: "button", class: "quiet", onclick: () => add()}, "+ Add a field"),
          h("p", {class: "hint"}, "Text is compared by shingles of so many words: 5 finds copied sentences, 1 finds the same vocabulary. Values are compared as sets: tags, users, products."))),
      h("div", {class: "stack"}, threshold.element, recall.element, keeps)),
    h("div", {class: "row end"}, h("button", {class: "primary"}, "Make the collection")));
  add({name: "text", kind: "text", n: 5});
  return form;
}

function fieldRow(guessed, changed) {
  const {name, kind, n} = guessed;
  const field = h("input", {type: "text", value: name, required: true}), words = h("input", {type: "number", min: 1, max: 100, value: n ?? 5});
  const size = labelled("Words", words), hint = h("p", {class: "hint", hidden: true});
  const chosen = guessed.why ? "not compared" : kind;
  const type = h("select", {onchange: () => changed()}, ["text", "values", "not compared"].map(one => h("option", {value: one, selected: one === chosen}, one)));
  const row = h("div", {}, h("div", {class: "fieldrow"}, labelled("Name", field), labelled("Kind", type), size,
    h("button", {type: "button", class: "quiet", "aria-label": "Remove this field", onclick: () => { row.remove(); changed(); }}, "✕")), hint);
  row.field = () => {
    if (type.value === "not compared") return null;
    return [field.value.trim(), type.value === "text" ? {kind: "text", n: Number(words.value)} : {kind: "values"}];
  };
  row.judge = compared => {
    const said = advice(guessed, type.value !== "not compared", compared);
    size.hidden = type.value !== "text";
    hint.hidden = !said;
    hint.classList.toggle("warn", Boolean(said) && type.value !== "not compared");
    show(hint, said ?? []);
  };
  return row;
}
