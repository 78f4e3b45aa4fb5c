// Compare: two or three texts, a Venn diagram, two-way and three-way resemblance.
import {api} from "./api.js";
import {bar, venn} from "./charts.js";
import {debounced, grouped, h, labelled, show, similarity, words} from "./dom.js";
import {legend, passages} from "./diff.js";
import {droppable} from "./search.js";

const NAMES = ["A", "B", "C"];
const SAMPLE = [
  "The night train to Marstal leaves at ten past nine. It stops at every village on the coast, and the guard reads the names aloud although nobody gets off.",
  "The night train to Marstal leaves at half past nine. It stops at every village on the coast, and the guard reads the names aloud although few get off.",
];

export async function compare(page, _, signal) {
  const results = h("section", {"aria-label": "Comparison", "aria-live": "off"});
  const texts = NAMES.map((name, i) => {
    const area = h("textarea", {rows: 7, oninput: () => later(), value: SAMPLE[i] ?? ""});
    droppable(area);
    return {area, element: labelled(`Text ${name}`, area)};
  });
  const third = h("button", {type: "button", class: "quiet", onclick: () => {
    texts[2].element.hidden = !texts[2].element.hidden;
    third.textContent = texts[2].element.hidden ? "+ Add a third text" : "− Leave out the third text";
    boxes.className = texts[2].element.hidden ? "two" : "three";
    if (!texts[2].element.hidden) texts[2].area.focus();
    later();
  }}, "+ Add a third text");
  texts[2].element.hidden = true;
  const boxes = h("div", {class: "two"}, texts.map(text => text.element));
  const unit = h("select", {onchange: () => later()}, ["words", "characters"].map(one => h("option", {value: one}, one)));
  const n = h("input", {type: "number", min: 1, max: 100, value: 2, oninput: () => later()});
  let running = null;
  const run = async () => {
    const used = texts.filter(text => !text.element.hidden).map(text => text.area.value);
    if (used.filter(text => text.trim() !== "").length < 2) { show(results, h("div", {class: "card empty"}, "Give two or three texts to compare.")); return; }
    running?.abort();
    running = new AbortController();
    signal.addEventListener("abort", () => running.abort(), {once: true});
    try {
      const field = {kind: "text", unit: unit.value, n: Math.min(100, Math.max(1, Number(n.value) || 1))};
      render(results, await api.compare({fields: {text: field}, documents: used.map(text => ({document: {fields: {text}}})), passages: true}, running.signal));
    } catch (error) {
      if (error.name !== "AbortError") show(results, h("p", {class: "notice warn", role: "alert"}, error.message));
    }
  };
  const later = debounced(250, run);
  show(page, h("h1", {}, "Compare"),
    h("p", {class: "lede"}, "What two or three texts share, counted exactly and estimated from sketches of 128 registers."),
    h("form", {class: "card stack", onsubmit: event => event.preventDefault()}, boxes,
      h("div", {class: "row apart"}, third, h("div", {class: "row"}, h("div", {}, labelled("Shingles of", unit)), h("div", {}, labelled("How many", n))))),
    results);
  await run();
}

function render(place, answer) {
  const [field] = answer.fields;
  if (!field) { show(place, h("div", {class: "card empty"}, "These texts have nothing to compare: no words at all.")); return; }
  const n = field.sizes.length;
  const name = of => of.map(i => NAMES[i]).join(" ∩ ");
  const only = of => of.length === n ? `in ${n === 2 ? "both" : "all three"}` : of.length === 1 ? `only in ${NAMES[of[0]]}` : `only in ${of.map(i => NAMES[i]).join(" and ")}`;
  const resemblance = [
    ...field.pairs.map(pair => ({label: name(pair.of), exact: pair.exact?.jaccard, estimate: pair.estimate})),
    ...(field.three_way ? [{label: "A ∩ B ∩ C", exact: field.three_way.exact, estimate: field.three_way.estimate}] : []),
  ];
  show(place,
    h("div", {class: "split"},
      h("div", {class: "card"}, h("h2", {}, "Shared and not"), venn(field.cells, field.sizes, NAMES),
        h("div", {class: "table"}, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Shingles"), h("th", {class: "number"}, "Exact"), h("th", {class: "number"}, "Estimated"))),
          h("tbody", {}, field.cells.map(cell => h("tr", {}, h("td", {}, only(cell.of)), h("td", {class: "number"}, cell.exact === null ? "" : grouped(cell.exact)), h("td", {class: "number"}, cell.estimate ? words(cell.estimate, 1) : ""))))))),
      h("div", {class: "card stack"}, h("h2", {}, "Resemblance"),
        resemblance.map(({label, exact, estimate}) => h("div", {}, h("div", {class: "row apart"}, h("b", {}, `${label.split(" ∩ ").length === 3 ? "Three-way" : "Two-way"}: ${label}`), h("b", {}, exact === null || exact === undefined ? "" : similarity(exact))),
          bar(exact ?? estimate.value?.value ?? 0, estimate), h("p", {class: "small muted"}, `estimated ${words(estimate)}`))),
        field.pairs.map(pair => pair.exact && h("p", {class: "small muted"}, `${share(pair.exact.containment[0])} of ${NAMES[pair.of[0]]} is in ${NAMES[pair.of[1]]}, and ${share(pair.exact.containment[1])} of ${NAMES[pair.of[1]]} in ${NAMES[pair.of[0]]}.`)))),
    field.passages && h("div", {class: "card"}, h("h2", {}, "In the texts"), legend(n), h("div", {class: n === 2 ? "two" : "three"}, field.passages.map((pieces, i) => h("div", {}, h("p", {class: "label"}, `Text ${NAMES[i]}`), passages(pieces, i, n))))));
}

const share = value => value === null ? "none" : `${Math.round(100 * value)}%`;
