// Texts side by side, with what they share.
import {bar} from "./charts.js";
import {dialog, h, similarity, words} from "./dom.js";

// A text in pieces. Of two texts what is shared is marked and what differs underlined; of three the marks say who shares it.
export function passages(pieces, own, n) {
  const piece = ({text, of}) => {
    if (of.length === 0) return text.trim() === "" ? text : h("span", {class: n === 2 ? "differs" : ""}, text);
    if (n === 2 || of.length === 2) return h("mark", {}, text);
    const other = of[0], third = [0, 1, 2].find(i => i !== own && i !== other);
    return h("mark", {class: "abc"[other] === "a" ? "b" : other > third ? "c" : "b", title: `also in ${"ABC"[other]}`}, text);
  };
  return h("div", {class: "text", tabindex: 0, role: "group", "aria-label": `Text ${"ABC"[own]}`}, pieces.map(piece));
}

export const legend = n => n === 2
  ? h("p", {class: "legend"}, h("span", {}, h("mark", {}, "shared")), h("span", {}, h("span", {class: "differs"}, "only here")))
  : h("p", {class: "legend"}, h("span", {}, h("mark", {}, "in all three")), h("span", {}, h("mark", {class: "b"}, "in one other"), " ", h("mark", {class: "c"}, "in one other (the last)")));

// A dialog with two documents side by side: `compared` is the answer of /compare, `names` says what they are.
export function sideBySide(compared, names) {
  const together = compared.pairs[0];
  const head = h("div", {class: "facts"},
    together.exact !== null && h("span", {}, "exact ", h("b", {}, similarity(together.exact))),
    h("span", {}, "estimated ", h("b", {}, words(together.estimate))));
  const fields = compared.fields.map(field => {
    const pair = field.pairs[0], exact = pair.exact;
    const value = exact?.jaccard ?? pair.estimate.value?.value ?? 0;
    return h("section", {class: "card"},
      h("div", {class: "row apart"}, h("h3", {}, field.field), h("b", {}, similarity(value))),
      bar(value, pair.estimate),
      h("p", {class: "small muted"}, exact
        ? `${exact.intersection} of ${exact.union} elements are in both; the first has ${field.sizes[0]}, the second ${field.sizes[1]}.`
        : `The collection keeps sketches only; estimated ${words(pair.estimate)}.`),
      field.passages && [legend(2), h("div", {class: "two"}, field.passages.map((pieces, i) => h("div", {}, h("p", {class: "label"}, names[i]), passages(pieces, i, 2))))]);
  });
  return dialog(`${names[0]} and ${names[1]}`, [head, ...fields]);
}
