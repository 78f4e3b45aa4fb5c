// The frame: which view is shown, and what happens when one fails.
import {h, say, show, theme, toast} from "./dom.js";
import {search} from "./search.js";
import {collections} from "./collections.js";
import {duplicates} from "./duplicates.js";
import {compare} from "./compare.js";
import {planner} from "./planner.js";

const views = {search, collections, duplicates, compare, planner};
const titles = {search: "Search", collections: "Collections", duplicates: "Duplicates", compare: "Compare", planner: "Planner"};
const main = document.getElementById("main");
let leaving = new AbortController();
let first = true;

async function go() {
  const [, name = "search", ...rest] = location.hash.split("/");
  const view = views[name] ? name : "search";
  leaving.abort();
  leaving = new AbortController();
  document.title = `${titles[view]} · Benzer`;
  for (const link of document.querySelectorAll(".top nav a")) {
    if (link.hash === `#/${view}`) {
      link.setAttribute("aria-current", "page");
      // On a phone the row of links is wider than the screen. Scrolling the link itself into view would move where the Tab key begins.
      link.parentElement.scrollLeft = link.offsetLeft - link.parentElement.offsetLeft - 8;
    } else link.removeAttribute("aria-current");
  }
  const page = h("div", {});
  show(main, page);
  try {
    await views[view](page, rest.map(decodeURIComponent), leaving.signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    show(page, h("div", {class: "card empty"}, h("h1", {}, "That did not work"), h("p", {}, error.message), h("button", {type: "button", onclick: go}, "Try again")));
  }
  if (!first) { main.focus({preventScroll: true}); scrollTo(0, 0); say(titles[view]); }
  first = false;
}

addEventListener("hashchange", go);
addEventListener("unhandledrejection", event => {
  if (event.reason?.name === "AbortError") { event.preventDefault(); return; }
  if (event.reason?.status !== undefined) { event.preventDefault(); toast(event.reason.message, true); }
});
theme();
go();
