// JSON lines into a collection, batch by batch.
import {api} from "./api.js";

const MOST_DOCUMENTS = 1000, MOST_BYTES = 4 << 20;

async function* lines(file, onbytes) {
  let read = 0;
  const count = new TransformStream({transform(chunk, controller) { read += chunk.byteLength; onbytes?.(read); controller.enqueue(chunk); }});
  let stream = file.stream().pipeThrough(count);
  if (file.name.endsWith(".gz")) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    const parts = (rest + (value ?? "")).split("\n");
    rest = done ? "" : parts.pop();
    for (const line of parts) if (line.trim() !== "") yield line;
    if (done) return;
  }
}

// The fields of the first documents: strings are text, lists and objects of counts are values.
export async function guess(file) {
  const found = new Map();
  let seen = 0;
  for await (const line of lines(file)) {
    let document;
    try { document = JSON.parse(line); } catch { throw new Error(`${file.name} is not a file of JSON lines.`); }
    for (const [name, value] of Object.entries(document.fields ?? document)) {
      if (name === "id" && !document.fields) continue;
      if (typeof value === "string") found.set(name, {name, kind: "text", n: value.split(/\s+/).length < 12 && !found.has(name) ? 2 : 5, length: Math.max(value.length, found.get(name)?.length ?? 0)});
      else if (Array.isArray(value)) found.set(name, {name, kind: "values"});
    }
    if ((seen += 1) === 20) break;
  }
  if (found.size === 0) throw new Error(`${file.name} has no fields of text or lists.`);
  return [...found.values()];
}

// A line as a document of the collection: as it is, or with the fields of the schema taken out of it.
function document(line, number, names) {
  let value;
  try { value = JSON.parse(line); } catch { return line; }
  if (value === null || typeof value !== "object" || typeof value.fields === "object") return line;
  const fields = Object.fromEntries(names.filter(name => value[name] !== undefined && value[name] !== null).map(name => [name, value[name]]));
  return JSON.stringify({id: String(value.id ?? number), fields});
}

export async function upload(file, collection, signal, onprogress) {
  const names = Object.keys(collection.fields), state = {share: 0, inserted: 0, rejected: 0, errors: []};
  let batch = [], size = 0, number = 0, read = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    const answer = await api.insert(collection.name, batch, signal);
    state.inserted += answer.inserted;
    state.rejected += answer.rejected;
    state.errors.push(...answer.results.filter(one => one.error).slice(0, 3 - state.errors.length).map(one => one.error.message));
    [batch, size] = [[], 0];
    state.share = file.size ? read / file.size : 1;
    onprogress(state);
  };
  for await (const line of lines(file, n => { read = n; })) {
    batch.push(document(line, number += 1, names));
    size += line.length;
    if (batch.length === MOST_DOCUMENTS || size > MOST_BYTES) await flush();
  }
  await flush();
  state.share = 1;
  onprogress(state);
  return state;
}
