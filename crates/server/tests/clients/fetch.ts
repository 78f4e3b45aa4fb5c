// The types that openapi-typescript makes, with openapi-fetch, against a running server: `node fetch.js URL`.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./made.js";

const api = createClient<paths>({ baseUrl: process.argv[2]! });
const name = "by-fetch", at = { params: { path: { name } } };
const of = (id: string) => ({ params: { path: { name, id } } });
// What an answer holds; anything but a success is thrown.
function data<T>(answer: { data?: T; error?: components["schemas"]["ErrorBody"] }): T {
  if (answer.data === undefined) throw new Error(answer.error?.error.message ?? "no answer");
  return answer.data;
}

const fields: components["schemas"]["Fields"] = { body: { kind: "text", n: 2 }, photo: { kind: "image" } };
const made = data(await api.PUT("/collections/{name}", { ...at, body: { fields } }));
const body = made.fields.body;
assert.ok(body?.kind === "text" && body.n === 2 && made.threshold === 0.8);

const text = "one text that two of them have, word by word";
const told = data(await api.POST("/collections/{name}/documents", { ...at, body: [{ id: "1", fields: { body: text } }, { id: "2", fields: { body: text } }, { id: "3", fields: { body: "another" } }, { id: "", fields: {} }] }));
const last = told.results[3];
assert.ok(told.inserted === 3 && last?.status === "rejected" && last.error.message.includes("`id` must be"));

const found = data(await api.POST("/collections/{name}/search", { ...at, body: { id: "1" } }));
const [match] = found.matches;
assert.ok(match?.id === "2" && match.exact === 1 && "value" in match.estimate && match.estimate.value.high <= 1);

assert.ok(data(await api.GET("/collections")).collections.some(one => one.name === name));
assert.equal(data(await api.GET("/collections/{name}", at)).documents, 3);
assert.equal(data(await api.GET("/collections/{name}/stats", at)).documents, 3);
const page = data(await api.GET("/collections/{name}/documents", { params: { path: { name }, query: { limit: 2 } } }));
assert.deepEqual(page.documents.map(one => one.id), ["1", "2"]);
assert.equal(data(await api.GET("/collections/{name}/documents/{id}", of("3"))).fields.body, "another");
assert.ok(data(await api.GET("/collections/{name}/documents/{id}/sketch", of("3"))).fields[0]!.registers.length > 0);

const lines = data(await api.GET("/collections/{name}/duplicates", { ...at, parseAs: "text" })).trim().split("\n");
const pairs = lines.map(line => JSON.parse(line) as components["schemas"]["DuplicatesLine"]);
assert.deepEqual(pairs.map(pair => "b" in pair && [pair.a, pair.b]), [["1", "2"]]);

const compared = data(await api.POST("/compare", { body: { documents: [{ id: "1" }, { id: "3" }], collection: name } }));
assert.ok(compared.pairs[0]!.exact! < 0.5);
assert.ok(data(await api.POST("/plan", { body: { threshold: 0.8 } })).met);

assert.equal((await api.DELETE("/collections/{name}/documents/{id}", of("3"))).response.status, 204);
assert.equal((await api.GET("/collections/{name}/documents/{id}", of("3"))).error?.error.code, "document_not_found");
assert.equal((await api.DELETE("/collections/{name}", at)).response.status, 204);
