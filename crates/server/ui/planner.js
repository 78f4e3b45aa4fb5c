// Planner: sliders, the S-curve, and what each kind of sketch costs.
import {api} from "./api.js";
import {lineKey, sCurve, tradeOff} from "./charts.js";
import {bytes, debounced, grouped, h, share, show, similarity, slider} from "./dom.js";

const KINDS = {full: "whole registers", odd: "odd sketch"};
const kind = keep => KINDS[keep] ?? (keep.startsWith("b") ? `${keep.slice(1)} bits` : `xor of ${keep.slice(3)}`);
const UNMET = {bands: "only filters", recall: "recall not reached", key_bits: "keys too short", error: "error not reached", memory: "too much memory"};
// Powers of ten, and half steps: 1,000, 3,000, 10,000.
const steps = value => { const n = 10 ** value; return n >= 3e15 ? n : Number(n.toPrecision(value % 1 ? 1 : 2)); };

export async function planner(page, _, signal) {
  const results = h("section", {"aria-label": "Plan"});
  let running = null;
  const run = async () => {
    running?.abort();
    running = new AbortController();
    signal.addEventListener("abort", () => running.abort(), {once: true});
    const request = {threshold: threshold.value, recall: recall.value, documents: steps(documents.value), set_size: steps(size.value), trade_off: true};
    if (memory.value < 46) request.memory = 2 ** memory.value;
    try {
      render(results, request, await api.plan(request, running.signal));
    } catch (error) {
      if (error.name !== "AbortError") show(results, h("p", {class: "notice warn", role: "alert"}, error.message));
    }
  };
  const later = debounced(40, run);
  const threshold = slider({label: "Threshold", min: .4, max: .99, step: .01, value: .8, text: similarity, oninput: later, hint: "The similarity from which on pairs should be found."});
  const recall = slider({label: "Recall", min: .5, max: .999, step: .001, value: .95, text: share, oninput: later, hint: "The share of pairs at the threshold that must be found."});
  const documents = slider({label: "Documents", min: 3, max: 12, step: .5, value: 6, text: value => grouped(steps(value)), oninput: later});
  const memory = slider({label: "Memory", min: 20, max: 46, step: .5, value: 46, text: value => value >= 46 ? "no limit" : bytes(2 ** value), oninput: later, hint: "For sketches and band keys together."});
  const size = slider({label: "Elements of a document", min: 1, max: 6, step: .5, value: 2.5, text: value => grouped(steps(value)), oninput: later, hint: "Shingles or values of an average document."});
  show(page, h("h1", {}, "Planner"), h("p", {class: "lede"}, "What a collection needs for the similarity, the recall and the memory that you have in mind."),
    h("div", {class: "split"}, h("form", {class: "card stack", onsubmit: event => event.preventDefault()}, [threshold, recall, documents, memory, size].map(one => one.element)), results));
  await run();
}

function render(place, request, plan) {
  const chosen = plan.chosen;
  const facts = chosen && h("div", {class: "facts"},
    h("span", {}, "memory ", h("b", {}, bytes(chosen.ram))), h("span", {}, "per document ", h("b", {}, bytes(chosen.ram / request.documents))),
    h("span", {}, "standard error ", h("b", {}, chosen.standard_error.toFixed(4))), chosen.recall !== null && h("span", {}, "recall ", h("b", {}, share(chosen.recall))));
  show(place,
    h("div", {class: "card"}, h("h2", {}, plan.met ? plan.message : "This cannot be met"), facts,
      !plan.met && [h("p", {class: "notice warn"}, plan.message), plan.remedies.length > 0 && h("ul", {}, plan.remedies.map(remedy => h("li", {}, remedy.text)))],
      plan.met && sCurve(plan.curve, request.threshold, chosen.recall)),
    h("div", {class: "card"}, h("h2", {}, "Memory and error"),
      h("p", {class: "small muted"}, "Smaller is better both ways. Odd and xor sketches are the smallest where similarities are high, but only filter: they cannot be searched by bands."),
      plan.trade_off.length > 0 && tradeOff(plan.trade_off),
      h("p", {class: "legend"}, plan.trade_off[0]?.sketches.map((sketch, i) => h("span", {}, lineKey(i), kind(sketch.keep))))),
    h("div", {class: "card"}, h("h2", {}, "At equal error"), h("div", {class: "table", tabindex: 0, role: "region", "aria-label": "Alternatives"}, h("table", {},
      h("thead", {}, h("tr", {}, ["Keep", "Registers", "Bits", "Bands", "Recall", "Memory", ""].map((title, i) => h("th", {class: i > 0 && i < 6 ? "number" : ""}, title)))),
      h("tbody", {}, plan.alternatives.map(one => h("tr", {class: chosen && one.keep === chosen.keep && one.registers === chosen.registers ? "chosen" : ""},
        h("td", {}, kind(one.keep)), h("td", {class: "number"}, grouped(one.registers)), h("td", {class: "number"}, grouped(one.bits_per_document)),
        h("td", {class: "number"}, one.bands === null ? "–" : `${one.bands} × ${one.rows}`), h("td", {class: "number"}, one.recall === null ? "–" : share(one.recall)),
        h("td", {class: "number"}, bytes(one.ram)), h("td", {class: "small muted"}, one.unmet.map(name => UNMET[name]).join(", ")))))))));
}
