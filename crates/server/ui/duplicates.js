// Duplicates: clusters of a collection, a histogram, export.
import {api} from "./api.js";
import {bar, histogram} from "./charts.js";
import {cell, download, grouped, h, labelled, say, show, similarity, slider, words} from "./dom.js";
import {sideBySide} from "./diff.js";

const PAGE = 30;
// Documents that are tried where there are no clusters.
const TRIED = 40;

export async function duplicates(page, [wanted], signal) {
  const all = await api.collections();
  if (all.length === 0) {
    show(page, h("h1", {}, "Duplicates"), h("div", {class: "card empty"}, h("p", {}, "There are no collections yet."), h("a", {class: "button", href: "#/collections"}, "Make one")));
    return;
  }
  let collection = all.find(one => one.name === wanted) ?? all[0];
  const results = h("section", {"aria-label": "Clusters"});
  const level = one => slider({label: "At least this similar", min: one.threshold, max: 1, step: .01, value: one.threshold, text: similarity});
  let threshold = level(collection);
  const place = h("div", {}, threshold.element);
  const select = h("select", {onchange: () => {
    collection = all.find(one => one.name === select.value);
    threshold = level(collection);
    show(place, threshold.element);
  }}, all.map(one => h("option", {value: one.name, selected: one === collection}, `${one.name} (${grouped(one.documents)} documents)`)));
  const button = h("button", {class: "primary"}, "Find duplicates");
  const form = h("form", {class: "card two", onsubmit: async event => {
    event.preventDefault();
    button.disabled = true;
    try { await find(results, collection, threshold.value, signal); }
    catch (error) { if (error.name !== "AbortError") show(results, h("p", {class: "notice warn", role: "alert"}, error.message)); }
    button.disabled = false;
  }}, labelled("Collection", select), h("div", {}, place, h("div", {class: "row end"}, button)));
  show(page, h("h1", {}, "Duplicates"),
    h("p", {class: "lede"}, "Clusters of similar documents, the largest first. Every member is similar to its leader, the one that came first; never by a chain."),
    form, results);
}

async function find(place, collection, threshold, signal) {
  const clusters = [], count = h("p", {class: "muted"}, "Looking…");
  show(place, count);
  for await (const cluster of api.clusters(collection.name, threshold, signal)) {
    clusters.push(cluster);
    if (clusters.length % 500 === 0) count.textContent = `${grouped(clusters.length)} clusters…`;
  }
  if (clusters.length === 0) {
    const why = h("p", {class: "small"});
    show(place, h("div", {class: "card empty"}, h("p", {}, "No two documents of this collection are that similar."), why));
    why.textContent = await apart(collection, threshold, signal) ?? "";
    return;
  }
  const members = clusters.flatMap(cluster => cluster.members);
  const values = members.map(member => member.estimate.value?.value ?? 0);
  const list = h("div", {});
  let shown = 0;
  const more = h("button", {type: "button", onclick: () => next()}, "Show more");
  const next = () => {
    list.append(...clusters.slice(shown, shown + PAGE).map((cluster, i) => clusterCard(collection, cluster, shown + i === 0)));
    shown = Math.min(clusters.length, shown + PAGE);
    more.hidden = shown === clusters.length;
  };
  const csv = () => {
    const rows = clusters.flatMap((cluster, i) => cluster.members.map(member => [i + 1, cell(cluster.leader), cell(member.id), member.estimate.value?.value, member.estimate.value?.low, member.estimate.value?.high].join(",")));
    download(`${collection.name}-duplicates.csv`, "text/csv", [["cluster,leader,id,similarity,low,high", ...rows].join("\n"), "\n"]);
  };
  const lines = () => download(`${collection.name}-duplicates.jsonl`, "application/x-ndjson", [clusters.map(cluster => JSON.stringify(cluster)).join("\n"), "\n"]);
  show(place,
    h("div", {class: "card split"},
      h("div", {}, h("h2", {}, `${grouped(clusters.length)} ${clusters.length === 1 ? "cluster" : "clusters"}`),
        h("p", {}, `${grouped(members.length + clusters.length)} of ${grouped(collection.documents)} documents are in one; ${grouped(members.length)} are similar to an earlier one.`),
        h("div", {class: "row"}, h("button", {type: "button", onclick: csv}, "Export CSV"), h("button", {type: "button", onclick: lines}, "Export JSON lines"))),
      histogram(values, threshold)),
    list, more);
  next();
  say(`${clusters.length} clusters`);
}

// Documents that are alike in one field, and not in another: then the mean hides them.
async function apart(collection, threshold, signal) {
  if (Object.keys(collection.fields).length < 2) return null;
  const {documents} = await api.documents(collection.name, 0, TRIED, signal);
  const alike = new Map(), differs = new Map(), count = (map, name) => map.set(name, (map.get(name) ?? 0) + 1);
  let found = 0;
  for (const {id} of documents) {
    const {matches: [match]} = await api.search(collection.name, {id, rule: "any", threshold, limit: 1}, signal);
    if (!match) continue;
    found += 1;
    for (const field of match.fields) count((field.exact ?? field.estimate.value?.value ?? 0) >= threshold ? alike : differs, field.field);
  }
  if (found === 0) return null;
  const names = map => [...map].sort(([, a], [, b]) => b - a).map(([name]) => name).join(", ");
  return `Of ${documents.length} documents that were tried, ${found} have one that is that similar in ${names(alike)}, but not in ${names(differs)}: all fields count, so the whole documents are less similar. Make the collection without ${names(differs)} to find them.`;
}

function clusterCard(collection, cluster, open) {
  const member = one => {
    const value = one.estimate.value?.value ?? 0;
    return h("li", {}, h("span", {class: "id"}, one.id), bar(value, one.estimate), h("span", {class: "small", title: words(one.estimate)}, similarity(value)),
      h("button", {type: "button", class: "quiet", "aria-label": `Compare ${cluster.leader} with ${one.id}`, onclick: async () => {
        sideBySide(await api.compare({collection: collection.name, documents: [{id: cluster.leader}, {id: one.id}], passages: true}), [cluster.leader, one.id]);
      }}, "Compare"));
  };
  const list = h("ul", {class: "members"});
  const fill = () => { if (!list.firstChild) show(list, cluster.members.map(member)); };
  const details = h("details", {class: "card cluster", ontoggle: () => { if (details.open) fill(); }},
    h("summary", {}, h("span", {class: "count"}, `${cluster.members.length + 1}`), h("span", {class: "id"}, cluster.leader)), list);
  if (open) { fill(); details.open = true; }
  return details;
}
