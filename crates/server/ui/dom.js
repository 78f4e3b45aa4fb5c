// Elements, numbers and small dialogs.

// h("p", {class: "muted", onclick: f}, "text", child): an element. `style` is an object, so that the content security policy can forbid style attributes.
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  set(element, props);
  element.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

export function svg(tag, props, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, props);
  element.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

function set(element, props) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else if (["value", "checked", "disabled", "selected", "open"].includes(name) && !(element instanceof SVGElement)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

export const show = (place, ...children) => place.replaceChildren(...children.flat(9).filter(Boolean));

export const grouped = n => Math.round(n).toLocaleString("en");
export const share = value => `${(100 * value).toFixed(1)}%`;
export const similarity = value => value.toFixed(3);
export function bytes(n) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  while (n >= 1023.95 && i < units.length - 1) { n /= 1024; i += 1; }
  return `${i === 0 ? Math.round(n) : n.toFixed(n < 10 ? 1 : 0)} ${units[i]}`;
}
// A text as a cell of CSV. What a spreadsheet would take for a formula begins with an apostrophe (OWASP, CSV injection); numbers stay numbers.
export function cell(text) {
  const isFormula = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text);
  return `"${isFormula ? "'" : ""}${String(text).replaceAll("\"", "\"\"")}"`;
}
export const measured = estimate => estimate?.value ?? null;
// An estimate in words: 0.91 (0.86 to 0.95).
export function words(estimate, digits = 3) {
  if (estimate?.value) return `${estimate.value.value.toFixed(digits)} (${estimate.value.low.toFixed(digits)} to ${estimate.value.high.toFixed(digits)})`;
  if (estimate?.saturated) return `at most ${estimate.saturated.at_most.toFixed(digits)}`;
  return estimate?.undefined?.why ?? "unknown";
}

let number = 0;
export const fresh = name => `${name}-${number += 1}`;

// A range with its value beside it.
export function slider({label, hint, min, max, step, value, text, oninput}) {
  const id = fresh("slider");
  const output = h("output", {for: id}, text(value));
  const input = h("input", {type: "range", id, min, max, step, value, "aria-valuetext": text(value), oninput: () => {
    const now = Number(input.value);
    output.textContent = text(now);
    input.setAttribute("aria-valuetext", text(now));
    oninput?.(now);
  }});
  const element = h("div", {class: "slider"}, h("label", {for: id}, label), output, input, hint && h("p", {class: "hint"}, hint));
  return {element, input, get value() { return Number(input.value); }, set(next) { input.value = next; output.textContent = text(Number(input.value)); }};
}

export function labelled(label, control, hint) {
  control.id ||= fresh("field");
  return h("div", {}, h("label", {for: control.id}, label), control, hint && h("p", {class: "hint"}, hint));
}

export function toast(message, bad = false) {
  const element = h("div", {class: bad ? "toast bad" : "toast"}, message);
  document.getElementById("toasts").append(element);
  setTimeout(() => element.remove(), bad ? 9000 : 4000);
}

export const say = message => { document.getElementById("status").textContent = message; };

// A dialog that closes by itself on Escape; gives its element.
export function dialog(title, content, narrow = false) {
  const id = fresh("title");
  const element = h("dialog", {class: narrow ? "narrow" : "", "aria-labelledby": id},
    h("div", {class: "inside"},
      h("div", {class: "row apart"}, h("h2", {id}, title), h("button", {type: "button", class: "quiet", "aria-label": "Close", onclick: () => element.close()}, "✕")),
      content));
  element.addEventListener("close", () => element.remove());
  element.addEventListener("click", event => { if (event.target === element) element.close(); });
  document.body.append(element);
  element.showModal();
  return element;
}

// Asks; true if the answer is yes.
export function confirm(title, message, yes) {
  return new Promise(resolve => {
    let answer = false;
    const box = dialog(title, [h("p", {}, message), h("div", {class: "row end"},
      h("button", {type: "button", onclick: () => box.close()}, "Keep it"),
      h("button", {type: "button", class: "danger", onclick: () => { answer = true; box.close(); }}, yes))], true);
    box.addEventListener("close", () => resolve(answer));
  });
}

export function debounced(wait, work) {
  let timer;
  return (...args) => { clearTimeout(timer); timer = setTimeout(() => work(...args), wait); };
}

export function download(name, type, parts) {
  const url = URL.createObjectURL(new Blob(parts, {type}));
  const link = h("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Light or dark: as the system says, until somebody chooses.
export function theme() {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const apply = () => { root.dataset.theme = stored() ?? (dark.matches ? "dark" : "light"); };
  dark.addEventListener("change", apply);
  document.getElementById("theme").addEventListener("click", () => {
    const next = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("theme", next); } catch { /* it lasts as long as the page then */ }
    root.dataset.theme = next;
  });
  apply();
}
