// The client that @hey-api/openapi-ts makes, against a running server: `node sdk.js URL`.
import assert from "node:assert/strict";
import { client } from "./sdk/client.gen.js";
import * as api from "./sdk/index.js";

client.setConfig({ baseUrl: process.argv[2]!, throwOnError: true });
const name = "by-sdk", path = { name };

const { data: made } = await api.createCollection<true>({ path, body: { fields: { body: { kind: "text", n: 2 }, tags: { kind: "values" } } } });
const body = made.fields.body;
assert.ok(body?.kind === "text" && body.n === 2);

const text = "one text that two of them have, word by word", tags = ["a", 5];
const documents: api.DocumentBody[] = [{ id: "1", fields: { body: text, tags } }, { id: "2", fields: { body: text, tags } }, { id: "3", fields: { body: "another" } }];
const { data: told } = await api.insertDocuments<true>({ path, body: documents });
assert.ok(told.inserted === 3 && told.results.every(one => one.status === "inserted"));

const { data: found } = await api.search<true>({ path, body: { id: "1", explain: true } });
const [match] = found.matches;
assert.ok(match?.id === "2" && match.exact === 1 && match.fields[0]!.explanation!.n_shared > 0);

assert.ok((await api.listCollections<true>()).data.collections.some(one => one.name === name));
assert.equal((await api.readCollection<true>({ path })).data.documents, 3);
assert.equal((await api.collectionStats<true>({ path })).data.documents, 3);
assert.deepEqual((await api.listDocuments<true>({ path, query: { limit: 2 } })).data.documents.map(one => one.id), ["1", "2"]);
assert.equal((await api.readDocument<true>({ path: { name, id: "3" } })).data.fields.body, "another");
assert.ok((await api.documentSketch<true>({ path: { name, id: "3" } })).data.fields[0]!.registers.length > 0);

const { data: lines } = await api.duplicates<true>({ path, query: { as: "clusters" }, parseAs: "text" });
const [cluster] = lines.trim().split("\n").map(line => JSON.parse(line) as api.SimilarCluster);
assert.deepEqual([cluster!.leader, cluster!.members.map(one => one.id)], ["1", ["2"]]);

assert.ok((await api.compare<true>({ body: { documents: [{ id: "1" }, { id: "3" }], collection: name } })).data.pairs[0]!.exact! < 0.5);
assert.ok((await api.plan<true>({ body: { threshold: 0.8 } })).data.met);

await api.removeDocument<true>({ path: { name, id: "3" } });
await assert.rejects(async () => api.readDocument<true>({ path: { name, id: "3" } }), error => (error as api.ErrorBody).error.code === "document_not_found");
await api.removeCollection<true>({ path });
