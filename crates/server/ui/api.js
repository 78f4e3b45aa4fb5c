// The public REST API, and nothing else.
import {dialog, h, labelled} from "./dom.js";

export class ApiError extends Error {
  constructor(status, code, message) { super(message); this.status = status; this.code = code; }
}

const key = {
  get() { try { return sessionStorage.getItem("key"); } catch { return key.own; } },
  set(value) { key.own = value; try { sessionStorage.setItem("key", value); } catch { /* kept in memory */ } },
};

// Asks for a key once, however many requests need it.
let asking = null;
function ask(message) {
  asking ??= new Promise(resolve => {
    const input = h("input", {type: "password", autocomplete: "off", required: true});
    let given = null;
    const form = h("form", {class: "stack", onsubmit: event => { event.preventDefault(); given = input.value.trim(); box.close(); }},
      h("p", {}, message), labelled("Key", input, "It is kept until you close this tab. Whoever runs the server makes one with: benzer key create"),
      h("div", {class: "row end"}, h("button", {class: "primary"}, "Use this key")));
    const box = dialog("This server needs a key", form, true);
    box.addEventListener("close", () => { asking = null; if (given) key.set(given); resolve(Boolean(given)); });
  });
  return asking;
}

async function send(method, path, {body, type, signal} = {}) {
  const headers = {};
  if (key.get()) headers.authorization = `Bearer ${key.get()}`;
  if (body !== undefined) headers["content-type"] = type ?? "application/json";
  let response;
  try {
    response = await fetch(path, {method, headers, body: body === undefined || typeof body === "string" ? body : JSON.stringify(body), signal});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "The server cannot be reached. Is it still running?");
  }
  if (response.ok) return response;
  const {code, message} = (await response.json().catch(() => ({}))).error ?? {code: "unknown", message: response.statusText};
  if (response.status === 401 && await ask(message)) return send(method, path, {body, type, signal});
  throw new ApiError(response.status, code, message);
}

const json = async (...args) => (await send(...args)).json();
const place = name => `/collections/${encodeURIComponent(name)}`;

export const api = {
  collections: async () => (await json("GET", "/collections")).collections,
  create: (name, settings) => json("PUT", place(name), {body: settings}),
  remove: name => send("DELETE", place(name)),
  stats: name => json("GET", `${place(name)}/stats`),
  documents: (name, from = 0, limit = 100, signal) => json("GET", `${place(name)}/documents?from=${from}&limit=${limit}`, {signal}),
  document: (name, id) => json("GET", `${place(name)}/documents/${encodeURIComponent(id)}`),
  insert: (name, lines, signal) => json("POST", `${place(name)}/documents`, {body: lines.join("\n"), type: "application/x-ndjson", signal}),
  search: (name, request, signal) => json("POST", `${place(name)}/search`, {body: request, signal}),
  compare: (request, signal) => json("POST", "/compare", {body: request, signal}),
  plan: (request, signal) => json("POST", "/plan", {body: request, signal}),

  // Clusters one by one, while they come.
  async *clusters(name, threshold, signal) {
    const response = await send("GET", `${place(name)}/duplicates?as=clusters&threshold=${threshold}`, {signal});
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const {value, done} = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop();
      for (const line of lines.filter(Boolean)) {
        const cluster = JSON.parse(line);
        if (cluster.error) throw new ApiError(500, cluster.error.code, cluster.error.message);
        yield cluster;
      }
      if (done) return;
    }
  },
};
