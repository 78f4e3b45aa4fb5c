// Pictures: bars with error bars, histograms, curves, Venn diagrams.
import {fresh, grouped, similarity, svg, words} from "./dom.js";

function titled(label, description) {
  const id = fresh("chart");
  return {props: {role: "img", "aria-labelledby": id}, title: svg("title", {id}, description ? `${label}: ${description}` : label)};
}

// A similarity from 0 to 1 with its 95% interval; `limit` is the threshold.
export function bar(value, estimate, limit) {
  const range = estimate?.value, x = v => 1 + 298 * Math.min(1, Math.max(0, v));
  const {props, title} = titled("similarity", `${similarity(value)}${range ? `, estimated ${words(estimate)}` : ""}`);
  return svg("svg", {class: "bar", viewBox: "0 0 300 18", preserveAspectRatio: "none", ...props}, title,
    svg("rect", {class: "track", x: 0, y: 5, width: 300, height: 8, rx: 4}),
    svg("rect", {class: "fill", x: 0, y: 5, width: x(value), height: 8, rx: 4}),
    limit && svg("line", {class: "limit", x1: x(limit), x2: x(limit), y1: 0, y2: 18, "vector-effect": "non-scaling-stroke"}),
    range && [[x(range.low), x(range.high), 9, 9], [x(range.low), x(range.low), 3, 15], [x(range.high), x(range.high), 3, 15]]
      .map(([x1, x2, y1, y2]) => svg("line", {class: "whisker", x1, x2, y1, y2, "vector-effect": "non-scaling-stroke"})));
}

const W = 560, H = 300, L = 46, R = 12, T = 14, B = 40;
const across = (value, [low, high]) => L + (W - L - R) * (value - low) / (high - low);
const up = (value, [low, high]) => H - B - (H - T - B) * (value - low) / (high - low);

function axes(xs, ys, x, y, xName, yName) {
  return [
    ys.map(([value, label]) => [svg("line", {class: "gridline", x1: L, x2: W - R, y1: y(value), y2: y(value)}), svg("text", {x: L - 7, y: y(value) + 4, "text-anchor": "end"}, label)]),
    svg("line", {class: "axis", x1: L, x2: W - R, y1: H - B, y2: H - B}),
    xs.map(([value, label]) => svg("text", {x: x(value), y: H - B + 17, "text-anchor": "middle"}, label)),
    svg("text", {x: (L + W - R) / 2, y: H - 5, "text-anchor": "middle"}, xName),
    yName && svg("text", {x: L, y: T - 3, "text-anchor": "start"}, yName),
  ];
}

// How many similarities there are of each size, from `from` to 1.
export function histogram(values, from, bins = 20) {
  const counts = new Array(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, Math.max(0, Math.floor((value - from) / (1 - from) * bins)))] += 1;
  const most = Math.max(1, ...counts), x = v => across(v, [from, 1]), y = v => up(v, [0, most]);
  const {props, title} = titled("histogram of similarities", `${grouped(values.length)} similarities from ${similarity(from)} to 1`);
  const width = (W - L - R) / bins;
  const ticks = [0, .25, .5, .75, 1].map(t => from + t * (1 - from));
  return svg("svg", {class: "chart", viewBox: `0 0 ${W} ${H}`, ...props}, title,
    axes(ticks.map(t => [t, t.toFixed(2)]), [0, .5, 1].map(t => Math.round(t * most)).filter((v, i, all) => all.indexOf(v) === i).map(v => [v, grouped(v)]), x, y, "similarity to the leader", "documents"),
    counts.map((n, i) => n > 0 && svg("rect", {class: "column", x: L + i * width + 1, width: Math.max(1, width - 2), y: y(n), height: H - B - y(n), rx: 2})));
}

// The share of pairs that are found, by their similarity.
export function sCurve(points, threshold, recall) {
  const x = v => across(v, [0, 1]), y = v => up(v, [0, 1]);
  const line = points.map(p => `${x(p.similarity).toFixed(1)},${y(p.recall).toFixed(1)}`).join(" ");
  const {props, title} = titled("S-curve", `at ${threshold.toFixed(2)} the share found is ${recall === null ? "unknown" : recall.toFixed(3)}`);
  return svg("svg", {class: "chart", viewBox: `0 0 ${W} ${H}`, ...props}, title,
    axes([0, .2, .4, .6, .8, 1].map(v => [v, v.toFixed(1)]), [0, .25, .5, .75, 1].map(v => [v, `${100 * v}%`]), x, y, "similarity of a pair", "found"),
    line && svg("polygon", {class: "under", points: `${x(0)},${y(0)} ${line} ${x(1)},${y(0)}`}),
    line && svg("polyline", {class: "curve", points: line}),
    svg("line", {class: "mark", x1: x(threshold), x2: x(threshold), y1: T, y2: H - B}),
    recall !== null && svg("circle", {class: "dot", cx: x(threshold), cy: y(recall), r: 5}));
}

// Error over bits of a sketch, a line for each kind.
export function tradeOff(points) {
  const kinds = points[0]?.sketches.map(sketch => sketch.keep) ?? [];
  const all = points.flatMap(point => point.sketches);
  const logs = all.map(sketch => Math.log2(sketch.bits_per_document)), errors = all.map(sketch => sketch.standard_error);
  const range = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))], top = Math.max(...errors) * 1.08;
  const x = v => across(Math.log2(v), range), y = v => up(v, [0, top]);
  const ticks = Array.from({length: range[1] - range[0] + 1}, (_, i) => range[0] + i).filter((_, i, list) => list.length < 10 || i % 2 === 0);
  const {props, title} = titled("memory and error", "bits of a sketch against its standard error, for each kind of sketch");
  return svg("svg", {class: "chart", viewBox: `0 0 ${W} ${H}`, ...props}, title,
    axes(ticks.map(t => [2 ** t, 2 ** t >= 8192 ? `${2 ** t / 8192} KiB` : `${2 ** t / 8} B`]), [0, .25, .5, .75, 1].map(t => [t * top, (t * top).toFixed(3)]), x, y, "size of a sketch", "standard error"),
    kinds.map((keep, i) => svg("polyline", {class: `line line-${i % 8}`, points: points.map(point => point.sketches.find(s => s.keep === keep)).filter(Boolean).map(s => `${x(s.bits_per_document).toFixed(1)},${y(s.standard_error).toFixed(1)}`).join(" ")})));
}

export const lineKey = i => svg("svg", {class: "key", viewBox: "0 0 26 12", "aria-hidden": "true"}, svg("line", {class: `line line-${i % 8}`, x1: 0, x2: 26, y1: 6, y2: 6}));

// The area that two circles share.
function lens(r, s, d) {
  if (d >= r + s) return 0;
  if (d <= Math.abs(r - s)) return Math.PI * Math.min(r, s) ** 2;
  const part = (a, b) => a * a * Math.acos(Math.min(1, Math.max(-1, (d * d + a * a - b * b) / (2 * d * a))));
  return part(r, s) + part(s, r) - .5 * Math.sqrt(Math.max(0, (-d + r + s) * (d + r - s) * (d - r + s) * (d + r + s)));
}

// The distance at which two circles share so much.
function distance(r, s, shared) {
  let [low, high] = [Math.abs(r - s), r + s];
  for (let i = 0; i < 60; i += 1) {
    const middle = (low + high) / 2;
    if (lens(r, s, middle) > shared) low = middle; else high = middle;
  }
  return (low + high) / 2;
}

// Two or three sets: areas of the circles are those of the sets, those of pairs are right; of three circles the middle follows.
export function venn(cells, sizes, names) {
  const size = cell => cell.exact ?? cell.estimate?.value?.value ?? 0;
  const n = sizes.length, most = Math.max(...sizes, 1);
  const radius = sizes.map(s => 110 * Math.sqrt(Math.max(s, most * .002) / most));
  const both = (i, j) => cells.filter(cell => cell.of.includes(i) && cell.of.includes(j)).reduce((sum, cell) => sum + size(cell), 0);
  const scale = Math.PI * 110 * 110 / most;
  const apart = (i, j) => distance(radius[i], radius[j], both(i, j) * scale);
  const centres = [{x: 0, y: 0}, {x: apart(0, 1), y: 0}];
  if (n === 3) {
    const [d, a, b] = [Math.max(centres[1].x, 1), apart(0, 2), apart(1, 2)];
    const x = (a * a - b * b + d * d) / (2 * d);
    centres.push({x, y: Math.sqrt(Math.max(0, a * a - x * x))});
  }
  const box = {left: Math.min(...centres.map((c, i) => c.x - radius[i])), right: Math.max(...centres.map((c, i) => c.x + radius[i])),
    top: Math.min(...centres.map((c, i) => c.y - radius[i])), bottom: Math.max(...centres.map((c, i) => c.y + radius[i]))};
  const pad = 34, middle = {x: centres.reduce((s, c) => s + c.x, 0) / n, y: centres.reduce((s, c) => s + c.y, 0) / n};
  const {props, title} = titled("Venn diagram", cells.map(cell => `${cell.of.map(i => names[i]).join(" and ")}: ${grouped(size(cell))}`).join(", "));
  const label = i => {
    const away = n === 2 ? {x: i === 0 ? -1 : 1, y: -1} : {x: centres[i].x - middle.x || (i ? 1 : -1), y: centres[i].y - middle.y - 1};
    const length = Math.hypot(away.x, away.y);
    return svg("text", {class: "strong", "text-anchor": "middle", x: centres[i].x + away.x / length * (radius[i] + 16), y: centres[i].y + away.y / length * (radius[i] + 16) + 4}, names[i]);
  };
  return svg("svg", {class: "chart", viewBox: `${box.left - pad} ${box.top - pad} ${box.right - box.left + 2 * pad} ${box.bottom - box.top + 2 * pad}`, style: {"max-height": "300px"}, ...props}, title,
    centres.map((c, i) => svg("circle", {class: `circle-${"abc"[i]}`, cx: c.x, cy: c.y, r: radius[i]})),
    sizes.map((_, i) => label(i)));
}
