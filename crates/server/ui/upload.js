// JSON lines into a collection, batch by batch.
import {api} from "./api.js";

const MOST_DOCUMENTS = 1000, MOST_BYTES = 4 << 20;

// The lines of a file that are not empty, each with its number.
export async function* lines(file, onbytes) {
  let read = 0;
  const count = new TransformStream({transform(chunk, controller) { read += chunk.byteLength; onbytes?.(read); controller.enqueue(chunk); }});
  let stream = file.stream().pipeThrough(count);
  if (file.name.endsWith(".gz")) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", number = 0;
  for (;;) {
    const {value, done} = await reader.read();
    const parts = (rest + (value ?? "")).split("\n");
    rest = done ? "" : parts.pop();
    for (const line of parts) {
      number += 1;
      if (line.trim() !== "") yield [line, number];
    }
    if (done) return;
  }
}

// A line as a document of the collection: as it is, or with the fields of the schema taken out of it. One without an id is named by its place.
function document(line, place, names) {
  let value;
  try { value = JSON.parse(line); } catch { return [line, false]; }
  if (value === null || typeof value !== "object" || Array.isArray(value) || typeof value.fields === "object") return [line, false];
  const fields = Object.fromEntries(names.filter(name => value[name] !== undefined && value[name] !== null).map(name => [name, value[name]]));
  return [JSON.stringify({id: String(value.id ?? place), fields}), value.id === undefined || value.id === null];
}

export async function upload(file, collection, signal, onprogress) {
  const names = Object.keys(collection.fields), state = {share: 0, inserted: 0, rejected: 0, named: 0, errors: []};
  let batch = [], named = 0, size = 0, read = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    const answer = await api.insert(collection.name, batch, signal);
    state.inserted += answer.inserted;
    state.rejected += answer.rejected;
    state.errors.push(...answer.results.filter(one => one.error).slice(0, 1 - state.errors.length).map(one => one.error.message));
    state.named += named;
    [batch, named, size] = [[], 0, 0];
    state.share = file.size ? read / file.size : 1;
    onprogress(state);
  };
  for await (const [line, number] of lines(file, n => { read = n; })) {
    if (signal.aborted) signal.throwIfAborted();
    const [made, isNamed] = document(line, `${file.name}:${number}`, names);
    batch.push(made);
    named += isNamed ? 1 : 0;
    size += line.length;
    if (batch.length === MOST_DOCUMENTS || size > MOST_BYTES) await flush();
  }
  await flush();
  state.share = 1;
  onprogress(state);
  return state;
}
