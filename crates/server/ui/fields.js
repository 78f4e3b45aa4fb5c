// What the fields of a file hold, and which of them say whether two documents are alike.
import {h} from "./dom.js";
import {lines} from "./upload.js";

const SAMPLE = 200;
const ADDRESS = /^(https?:\/\/|www\.)\S+$/i, DATE = /^(\d{4}-\d{2}-\d{2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4})$/, NUMBER = /^[-+]?[\d.,]*\d$/;

// The fields of the first documents, each with its kind, and why it should not be compared if it should not.
export async function guess(file) {
  const fields = new Map();
  let seen = 0;
  for await (const [line] of lines(file)) {
    let document;
    try { document = JSON.parse(line); } catch { throw new Error(`${file.name} is not a file of JSON lines: one document on each line.`); }
    if (document === null || typeof document !== "object" || Array.isArray(document)) throw new Error(`${file.name} is not a file of JSON lines: each line must be one document, such as {"id": "1", "text": "..."}.`);
    for (const [name, value] of Object.entries(document.fields ?? document)) {
      if ((name === "id" && !document.fields) || value === null) continue;
      if (!fields.has(name)) fields.set(name, []);
      fields.get(name).push(value);
    }
    if ((seen += 1) === SAMPLE) break;
  }
  const found = [...fields].map(([name, values]) => described(name, values));
  const usable = found.filter(field => field.kind !== "other");
  if (usable.length === 0) throw new Error(`${file.name} has no fields of text or lists.`);
  const longest = usable.filter(field => field.kind === "text").sort((a, b) => b.words - a.words)[0];
  for (const field of usable) field.why ??= beside(field, longest);
  // Something has to be compared.
  if (usable.every(field => field.why)) delete (longest ?? usable[0]).why;
  return {fields: usable, others: found.filter(field => field.kind === "other"), seen};
}

function described(name, values) {
  const share = test => values.filter(test).length / values.length;
  const distinct = new Set(values.map(value => JSON.stringify(value))).size, unique = values.length > 1 && distinct === values.length;
  const field = {name, unique, distinct, n: 5};
  const isCounts = value => typeof value === "object" && !Array.isArray(value) && Object.values(value).every(count => typeof count === "number");
  if (share(value => typeof value === "string") >= .5) {
    const texts = values.filter(value => typeof value === "string"), all = test => texts.filter(text => test(text.trim())).length >= .8 * texts.length;
    field.kind = "text";
    field.words = texts.reduce((sum, text) => sum + text.split(/\s+/).filter(Boolean).length, 0) / texts.length;
    if (field.words < 12) field.n = 2;
    if (all(text => ADDRESS.test(text))) field.why = "it holds addresses";
    else if (all(text => DATE.test(text))) field.why = "it holds dates";
    else if (all(text => NUMBER.test(text))) field.why = "it holds numbers";
    // Scripts without spaces have long words.
    else if (unique && all(text => !/\s/.test(text) && text.length <= 64)) field.why = "it is another one in every document, like an id";
  } else if (share(value => Array.isArray(value) || isCounts(value)) > .5) {
    field.kind = "values";
    field.words = values.reduce((sum, value) => sum + Object.keys(value).length, 0) / values.length;
  } else field.kind = "other";
  return field;
}

// Why a field says little about documents that have a long text.
function beside(field, longest) {
  if (!longest || field === longest || longest.words < 12) return undefined;
  if (field.kind === "values" ? field.words < 10 : 4 * field.words <= longest.words) return `it is short beside \`${longest.name}\``;
  return undefined;
}

// What to say of a choice: why a field is not compared, or what comparing it does.
export function advice(field, isCompared, nCompared) {
  if (!isCompared) return [h("strong", {}, "Not compared"), `${field.why ? `, because ${field.why}` : ""}, and not kept.`];
  if (nCompared > 1 && field.why) {
    return [h("strong", {}, field.unique ? "It differs in every document" : "It counts as much as the text"),
      `${field.unique ? " of the sample" : ""}: two copies of one text are less similar by 1/${nCompared} where it differs, and may not be found.`];
  }
  return null;
}
