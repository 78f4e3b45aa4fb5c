// The page in a real browser: every flow, at desktop and phone size, without a word on the console.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {readFileSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {execFileSync} from "node:child_process";
import {accessibility, browse, open, phone, picture, serve, sideways} from "./lab.mjs";

let server, browser;
before(async () => { [server, browser] = await Promise.all([serve(), browse()]); });
after(async () => { await browser?.close(); await server?.stop(); });

// Opens a view, does something with it, and holds it to what every view has to keep.
async function visit(name, hash, options, work) {
  const {page, context, complaints} = await open(browser, `${server.url}/${hash}`, options);
  await work(page);
  assert.deepEqual(await accessibility(page), [], `${name}: accessibility`);
  assert.equal(await sideways(page), 0, `${name} scrolls sideways`);
  await picture(page, name);
  assert.deepEqual(complaints, [], `${name}: the console`);
  await context.close();
}

const article = JSON.parse(readFileSync(new URL("../../../../examples/articles.jsonl", import.meta.url), "utf8").split("\n")[0]);

test("search by text gives cards with error bars, and one opens side by side", async () => {
  await visit("search", "#/search/demo", {}, async page => {
    await page.getByLabel("text", {exact: true}).fill(article.text);
    await page.getByRole("button", {name: "Search", exact: true}).click();
    await page.locator(".match").first().waitFor();
    assert.equal(await page.locator(".match .id").first().textContent(), article.id);
    assert.equal(await page.locator(".match .score").first().textContent(), "1.000");
    assert.ok(await page.locator(".match").first().locator(".whisker").count() >= 3, "no error bar");
    assert.match(await page.locator(".facts").first().textContent(), /finds [\d.]+% of those/);
    await page.locator(".match .snippet:not(:empty)").first().waitFor();
  });
  await visit("side-by-side", `#/search/demo/${article.id}`, {}, async page => {
    await page.locator(".match").first().click();
    const dialog = page.locator("dialog");
    await dialog.locator("mark").first().waitFor();
    assert.ok(await dialog.locator(".differs").count() > 0, "nothing differs");
    assert.match(await dialog.textContent(), /elements are in both/);
  });
});

test("a part of a picture finds it, and the points that lie upon each other are drawn on both", async () => {
  const example = name => new URL(`../../../../examples/${name}`, import.meta.url);
  const send = (method, path, body) => fetch(`${server.url}${path}`, {method, headers: {"content-type": "application/json"}, body: JSON.stringify(body)});
  const photo = name => ({id: name, fields: {photo: readFileSync(example(name)).toString("base64")}});
  assert.ok((await send("PUT", "/collections/photos", {fields: {photo: {kind: "image"}}})).ok);
  assert.ok((await send("POST", "/collections/photos/documents", ["bay.png", "hills.png"].map(photo))).ok);
  await visit("pictures", "#/search/photos", {}, async page => {
    await page.locator("input[type=file]").first().setInputFiles(example("bay-part.jpg").pathname);
    await page.waitForFunction(() => document.querySelector("input[type=file]").picture);
    await page.getByRole("button", {name: "Search", exact: true}).click();
    await page.locator(".match .thumbnail img").nth(1).waitFor();
    assert.deepEqual(await page.locator(".match .id").allTextContents(), ["bay.png"]);
    const shown = await page.locator(".match .thumbnail").evaluateAll(all => all.map(one => [one.querySelector("img").naturalWidth > 0, one.querySelectorAll("ellipse").length]));
    assert.equal(shown.length, 2, "yours and the one that was found");
    assert.ok(shown.every(([isShown, points]) => isShown && points >= 8) && shown[0][1] === shown[1][1], JSON.stringify(shown));
  });
  assert.ok((await fetch(`${server.url}/collections/photos`, {method: "DELETE"})).ok);
});

test("a dropped file is searched for, and nothing similar is said kindly", async () => {
  await visit("search-drop", "#/search/demo", {}, async page => {
    const area = page.getByLabel("text", {exact: true});
    const data = await page.evaluateHandle(text => { const data = new DataTransfer(); data.items.add(new File([text], "a.txt")); return data; }, article.text);
    await area.dispatchEvent("drop", {dataTransfer: data});
    await page.waitForFunction(() => document.querySelector("textarea").value.length > 100);
    await page.keyboard.press("Escape");
    await page.getByRole("button", {name: "Search", exact: true}).click();
    await page.locator(".match").first().waitFor();
    await area.fill("nothing that anybody has ever written about anything at all");
    await page.getByRole("button", {name: "Search", exact: true}).click();
    await page.getByText("Nothing in this collection is that similar").waitFor();
    await page.getByRole("tab", {name: "Document"}).click();
    await page.getByRole("button", {name: "Pick one for me"}).click();
    await page.locator(".facts, .notice").first().waitFor();
  });
});

test("a collection is made, filled from a file, measured and deleted", async () => {
  const file = join(tmpdir(), `benzer-page-${process.pid}.jsonl`);
  const line = i => JSON.stringify({id: `n${i}`, body: `note ${i} about ${["trains", "rivers", "bread"][i % 3]} and what became of them after the long winter of the year ${1900 + i % 50}`, tags: ["a", `t${i % 5}`]});
  writeFileSync(file, `${Array.from({length: 2500}, (_, i) => line(i)).join("\n")}\n{oops\n`);
  await visit("collections", "#/collections", {}, async page => {
    await page.getByLabel("Start from a file").setInputFiles(file);
    await page.locator(".fieldrow").nth(1).waitFor();
    assert.equal(await page.locator(".fieldrow").count(), 2);
    const maker = page.locator("form");
    // Two tags beside a text say little about it; who wants them compared says so.
    assert.equal(await maker.getByLabel("Kind").nth(1).inputValue(), "not compared");
    await maker.getByLabel("Kind").nth(1).selectOption("values");
    await maker.getByLabel("Name").first().fill("notes");
    await page.getByRole("button", {name: "Make the collection"}).click();
    await page.locator("[data-collection=notes]").waitFor();
    await page.getByText("2,500 documents").first().waitFor();
    const upload = page.locator(".upload");
    await upload.getByText("2,500 indexed; 1 not taken").waitFor();
    await upload.getByRole("button", {name: "Close"}).click();
    const card = page.locator("[data-collection=notes]");
    await card.locator("input[type=file]").setInputFiles(file);
    await upload.getByText("2,500 indexed; 1 not taken").waitFor();
    await picture(page, "upload");
    await upload.getByRole("button", {name: "Close"}).click();
    await card.getByRole("button", {name: "Statistics"}).click();
    await card.getByText("bucket skew").waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".toast").length === 0, null, {timeout: 30000});
  });
  await visit("collections-delete", "#/collections", {}, async page => {
    const card = page.locator("[data-collection=notes]");
    await card.getByRole("button", {name: "Delete"}).click();
    await page.getByRole("button", {name: "Keep it"}).click();
    await card.getByRole("button", {name: "Delete"}).click();
    await page.getByRole("button", {name: "Delete it"}).click();
    await card.waitFor({state: "detached"});
    await page.locator("[data-collection=demo]").waitFor();
  });
});

// Articles as they are crawled: an address, an id, a day, a title and numbers beside a text, of which every second is a copy of the one before.
const crawled = n => Array.from({length: n}, (_, i) => JSON.stringify({id: `c${i}`, url: `https://example.org/${i}`, key: `k${i * 7919}`, day: `2026-01-${String(1 + i % 28).padStart(2, "0")}`, title: `Report number ${i}`, views: i,
  text: Array.from({length: 40}, (_, word) => `w${(i >> 1) * 100 + word}`).join(" ")})).join("\n");

test("only what says whether documents are alike is proposed to be compared", async () => {
  const file = {name: "crawled.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(crawled(300))};
  const proposed = page => page.locator(".fieldrow").evaluateAll(rows => rows.map(row => [row.querySelector("input").value, row.querySelector("select").value]));
  await visit("proposed-fields", "#/collections", {}, async page => {
    await page.getByLabel("Start from a file").setInputFiles(file);
    await page.locator(".fieldrow").nth(4).waitFor();
    assert.deepEqual(await proposed(page), [["url", "not compared"], ["key", "not compared"], ["day", "not compared"], ["title", "not compared"], ["text", "text"]]);
    for (const why of ["it holds addresses", "it is another one in every document, like an id", "it holds dates", "it is short beside"]) await page.getByText(why).waitFor();
    await page.getByText("only texts and lists can be compared: views").waitFor();
    await page.getByRole("button", {name: "Make the collection"}).scrollIntoViewIfNeeded();
    await page.getByRole("button", {name: "Make the collection"}).click();
    await page.locator("[data-collection=crawled]").getByText("300 documents").waitFor();
  });
  await visit("proposed-clusters", "#/duplicates/crawled", {}, async page => {
    await page.getByRole("button", {name: "Find duplicates"}).click();
    await page.getByRole("heading", {name: "150 clusters"}).waitFor();
  });
  await visit("bad-fields", "#/collections", {}, async page => {
    await page.getByLabel("Start from a file").setInputFiles(file);
    await page.locator(".fieldrow").nth(4).waitFor();
    await page.locator(".fieldrow").nth(0).getByLabel("Kind").selectOption("text");
    await page.getByText("It differs in every document").waitFor();
    await page.locator("form").getByLabel("Name").first().fill("hidden");
    await page.getByRole("button", {name: "Make the collection"}).click();
    await page.locator("[data-collection=hidden]").getByText("300 documents").waitFor();
  });
  // What the addresses hide is said.
  await visit("hidden-clusters", "#/duplicates/hidden", {}, async page => {
    await page.getByRole("button", {name: "Find duplicates"}).click();
    await page.getByText("Of 40 documents that were tried, 40 have one that is that similar in text, but not in url").waitFor();
  });
  for (const name of ["crawled", "hidden"]) assert.ok((await fetch(`${server.url}/collections/${name}`, {method: "DELETE"})).ok);
});

test("an upload goes on in other views, asks before the page is closed, and can be stopped", async () => {
  const many = Array.from({length: 6000}, (_, i) => JSON.stringify({body: `note ${i} about what became of them after the long winter of the year ${i}`})).join("\n");
  const file = {name: "long.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(many)};
  const make = () => fetch(`${server.url}/collections/long`, {method: "PUT", headers: {"content-type": "application/json"}, body: JSON.stringify({fields: {body: {kind: "text"}}})});
  const documents = async () => (await (await fetch(`${server.url}/collections/long`)).json()).documents;
  assert.ok((await make()).ok);
  const {page, context, complaints} = await open(browser, `${server.url}/#/collections`);
  // Every batch waits until it is let through.
  let passed = 0, wanted = 1;
  await page.route("**/collections/long/documents", async route => {
    while (passed >= wanted) await new Promise(resolve => setTimeout(resolve, 20));
    passed += 1;
    await route.continue();
  });
  await page.locator("[data-collection=long] input[type=file]").setInputFiles(file);
  const upload = page.locator(".upload");
  await upload.getByText("1,000 indexed").waitFor();
  const asked = () => page.evaluate(() => { const event = new Event("beforeunload", {cancelable: true}); dispatchEvent(event); return event.defaultPrevented; });
  assert.ok(await asked(), "the page is closed without a word");
  await page.getByRole("link", {name: "Planner"}).click();
  await page.locator("svg.chart").first().waitFor();
  wanted = 3;
  await upload.getByText("3,000 indexed").waitFor();
  assert.deepEqual(await accessibility(page), []);
  await picture(page, "upload-elsewhere");
  await upload.getByRole("button", {name: "Stop"}).click();
  await upload.getByText("Stopped, the rest of the file is not in the collection").waitFor();
  await picture(page, "upload-stopped");
  assert.ok(!await asked(), "there is nothing to ask for");
  assert.equal(await documents(), 3000);
  wanted = 100;
  // Lines without ids are named by their place, so that another file does not replace them, and sending a file again does.
  await page.getByRole("link", {name: "Collections"}).click();
  await page.locator("[data-collection=long] input[type=file]").setInputFiles(file);
  await page.getByText("6,000 without an id are named by file and line").waitFor();
  assert.equal(await documents(), 6000);
  assert.deepEqual(complaints.filter(one => !one.includes("ERR_ABORTED")), []);
  await context.close();
  assert.ok((await fetch(`${server.url}/collections/long`, {method: "DELETE"})).ok);
});

test("what a spreadsheet would run is exported as a text", async () => {
  const send = (method, path, body) => fetch(`${server.url}${path}`, {method, headers: {"content-type": "application/json"}, body: JSON.stringify(body)});
  const text = "the very same words in every one of these documents";
  const ids = ["=1+1", "+cmd", "-cmd", "@sum", "\tx", "-5", "say \"=1\"", "plain"];
  assert.ok((await send("PUT", "/collections/sheet", {fields: {text: {kind: "text", n: 1}}})).ok);
  assert.ok((await send("POST", "/collections/sheet/documents", ids.map(id => ({id, fields: {text}})))).ok);
  await visit("sheet", "#/duplicates/sheet", {}, async page => {
    await page.getByRole("button", {name: "Find duplicates"}).click();
    await page.locator(".cluster").first().waitFor();
    const [csv] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", {name: "Export CSV"}).click()]);
    const lines = readFileSync(await csv.path(), "utf8").trim().split("\n").slice(1);
    assert.ok(lines.every(line => line.startsWith(`1,"'=1+1",`)), lines.join("\n"));
    const members = lines.map(line => line.split(`"'=1+1",`)[1]);
    for (const cell of [`"'+cmd"`, `"'-cmd"`, `"'@sum"`, `"'\tx"`, `"-5"`, `"say ""=1"""`, `"plain"`]) assert.ok(members.some(line => line.startsWith(`${cell},1,`)), `${cell} is not in ${members}`);
  });
  assert.ok((await fetch(`${server.url}/collections/sheet`, {method: "DELETE"})).ok);
});

test("duplicates are clusters with a histogram, and can be exported", async () => {
  await visit("duplicates", "#/duplicates/demo", {}, async page => {
    await page.getByRole("button", {name: "Find duplicates"}).click();
    await page.locator(".cluster").first().waitFor();
    const more = page.getByRole("button", {name: "Show more"});
    while (await more.isVisible()) await more.click();
    const counts = (await page.locator(".cluster .count").allTextContents()).map(Number);
    assert.ok(counts.length > 1 && counts.every((n, i) => i === 0 || n <= counts[i - 1]), `not the largest first: ${counts}`);
    assert.ok(await page.locator("svg.chart .column").count() > 0, "no histogram");
    const [csv] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", {name: "Export CSV"}).click()]);
    const lines = readFileSync(await csv.path(), "utf8").trim().split("\n");
    assert.equal(lines[0], "cluster,leader,id,similarity,low,high");
    assert.equal(lines.length - 1, counts.reduce((sum, n) => sum + n - 1, 0));
    await page.locator(".cluster").first().getByRole("button", {name: /Compare/}).first().click();
    await page.locator("dialog mark").first().waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({state: "detached"});
  });
});

test("markup in ids, texts, fields and files is shown as it is written", async () => {
  const markup = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>`, words = "and some words that all of them have in common";
  const send = (method, path, body) => fetch(`${server.url}${path}`, {method, headers: {"content-type": "application/json"}, body: JSON.stringify(body)});
  const fields = last => ({[markup]: `${markup} ${words} ${last}`, tags: [markup, `"><img src=x onerror=window.hit=1>`]});
  assert.ok((await send("PUT", "/collections/markup", {fields: {[markup]: {kind: "text", n: 1}, tags: {kind: "values"}}, keeps: "documents"})).ok);
  assert.ok(!(await send("PUT", `/collections/${encodeURIComponent(markup)}`, {fields: {text: {kind: "text"}}})).ok, "a name with markup is taken");
  assert.equal((await (await send("POST", "/collections/markup/documents", ["", " b", " c"].map(last => ({id: markup + last, fields: fields(last)})))).json()).inserted, 3);
  // The policy of the page would keep a script from running, and hide that it is there.
  const harmless = async (name, page) => {
    await page.waitForTimeout(100);
    assert.equal(await page.evaluate(() => window.hit), undefined, `${name}: markup has run`);
    const made = await page.evaluate(() => [...document.querySelectorAll("main, dialog, #toasts, #uploads, #status")].flatMap(place => [...place.querySelectorAll("img, script, iframe, [onerror]")]).map(one => one.outerHTML));
    assert.deepEqual(made, [], `${name}: markup has become elements`);
  };
  const quiet = (name, hash, work) => visit(name, hash, {bypassCSP: true}, async page => { await work(page); await harmless(name, page); });
  const shown = async (place, what) => assert.ok((await place.textContent()).includes(markup), `${what} is not shown as it is written`);
  const beside = async page => {
    const dialog = page.locator("dialog");
    await dialog.locator("mark").first().waitFor();
    await shown(dialog.locator("h2"), "the title");
    await shown(dialog.locator("h3").first(), "the name of the field");
    await shown(dialog.locator(".label").first(), "the id");
    for (const i of [0, 1]) await shown(dialog.locator(".text").nth(i), "the text");
  };
  await quiet("markup-search", "#/search/markup", async page => {
    await page.getByLabel(markup, {exact: true}).fill(`${markup} ${words}`);
    await page.getByRole("button", {name: "Search", exact: true}).click();
    await page.locator(".match .snippet:not(:empty)").nth(2).waitFor();
    await shown(page.locator(".match .id").first(), "the id");
    await shown(page.locator(".match .snippet").first(), "the text");
  });
  await quiet("markup-side-by-side", `#/search/markup/${encodeURIComponent(markup)}`, async page => {
    await page.locator(".match .snippet:not(:empty)").first().waitFor();
    await shown(page.locator(".match .fieldbars").first(), "the name of the field");
    await page.locator(".match").first().click();
    await beside(page);
  });
  // The console tells of the 404, as it should.
  const nobody = await open(browser, `${server.url}/#/search/markup/${encodeURIComponent(`${markup} of nobody`)}`, {bypassCSP: true});
  await shown(nobody.page.getByRole("alert"), "the error");
  await harmless("markup-nobody", nobody.page);
  await nobody.context.close();
  await quiet("markup-duplicates", "#/duplicates/markup", async page => {
    await page.getByRole("button", {name: "Find duplicates"}).click();
    await page.locator(".cluster .members li").first().waitFor();
    await shown(page.locator(".cluster summary .id"), "the leader");
    await shown(page.locator(".cluster .members .id").first(), "the member");
    await page.getByRole("button", {name: /Compare/}).first().click();
    await beside(page);
  });
  await quiet("markup-collections", "#/collections", async page => {
    const card = page.locator("[data-collection=markup]");
    await card.waitFor();
    await shown(card, "the name of the field");
    await card.getByRole("button", {name: "Statistics"}).click();
    await card.getByText("bucket skew").waitFor();
    const lines = [{id: `${markup} d`, [markup]: `${markup} ${words}`}, {id: `${markup} e`, [markup]: [markup]}].map(line => `${JSON.stringify(line)}\n`).join("");
    const file = {name: `${markup.replaceAll("/", "")}.jsonl`, mimeType: "application/x-ndjson", buffer: Buffer.from(lines)};
    await card.locator("input[type=file]").setInputFiles(file);
    const upload = page.locator(".upload.bad");
    await upload.waitFor();
    await shown(upload, "what was not taken");
    await upload.getByRole("button", {name: "Close"}).click();
    await page.getByLabel("Start from a file").setInputFiles(file);
    await page.waitForFunction(name => [...document.querySelectorAll(".fieldrow input")].some(input => input.value === name), markup);
    await harmless("markup-toast", page);
    await page.evaluate(() => document.getElementById("toasts").replaceChildren());
  });
  await quiet("markup-compare", "#/compare", async page => {
    await page.getByLabel("Text A", {exact: true}).first().fill(`${markup} one two three four`);
    await page.getByLabel("Text B", {exact: true}).first().fill(`${markup} one two three five`);
    await page.getByLabel("How many").fill("1");
    await page.waitForFunction(text => [...document.querySelectorAll("main .text")].filter(one => one.textContent.includes(text)).length === 2, markup);
  });
  // Were it written into a page, it would run: this test would see it.
  const {page, context} = await open(browser, `${server.url}/#/planner`, {bypassCSP: true});
  await page.evaluate(text => document.querySelector("main").insertAdjacentHTML("beforeend", text), markup);
  await page.waitForFunction(() => window.hit === 1);
  await context.close();
  assert.ok((await fetch(`${server.url}/collections/markup`, {method: "DELETE"})).ok);
});

test("two and three texts are compared as they are typed", async () => {
  await visit("compare", "#/compare", {}, async page => {
    await page.locator("svg.chart circle").nth(1).waitFor();
    await page.getByRole("button", {name: "+ Add a third text"}).click();
    await page.getByLabel("Text A", {exact: true}).first().fill("one two three four five six");
    await page.getByLabel("Text B", {exact: true}).first().fill("one two three four five seven");
    await page.getByLabel("Text C", {exact: true}).first().fill("zero one two three four eight");
    await page.getByLabel("How many").fill("1");
    await page.getByText("Three-way: A ∩ B ∩ C").waitFor();
    assert.equal(await page.locator("svg.chart circle").count(), 3);
    const rows = await page.locator("tbody tr").allTextContents();
    assert.equal(rows.length, 7);
    assert.match(rows.at(-1), /in all three4/);
    // 4 words of 9 are in all three, 5 of 7 in the first two.
    assert.match(await page.locator("main").textContent(), /Three-way: A ∩ B ∩ C0\.444/);
    assert.match(await page.locator("main").textContent(), /Two-way: A ∩ B0\.714/);
  });
});

test("the planner redraws as the sliders move", async () => {
  await visit("planner", "#/planner", {}, async page => {
    await page.getByText("128 registers of 8 bits, 18 x 7").waitFor();
    const curve = () => page.locator("svg.chart .curve").getAttribute("points");
    const lines = () => page.locator("svg.chart polyline.line").first().getAttribute("points");
    const [before, traded] = [await curve(), await lines()];
    assert.ok(await page.locator("svg.chart polyline.line").count() >= 6, "not all kinds of sketches");
    const threshold = page.getByRole("slider", {name: "Threshold"});
    await threshold.focus();
    for (let i = 0; i < 10; i += 1) await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(old => document.querySelector("svg.chart .curve")?.getAttribute("points") !== old, before);
    assert.notEqual(await lines(), traded);
    await page.getByRole("slider", {name: "Memory"}).fill("22");
    await page.getByText("This cannot be met").waitFor();
    await page.getByRole("slider", {name: "Memory"}).fill("46");
    await page.locator("svg.chart .curve").waitFor();
  });
});

test("the reference lists every route", async () => {
  await visit("reference", "reference", {}, async page => {
    await page.locator(".op").first().waitFor();
    assert.ok(await page.locator(".op").count() >= 17);
    await page.locator(".op", {hasText: "/collections/{name}/search"}).first().locator("summary").first().click();
    await page.getByText("SearchRequest").first().waitFor();
  });
});

test("everything works in the dark and on a phone", async () => {
  for (const [name, options] of [["phone", phone], ["dark", {colorScheme: "dark"}]]) {
    for (const view of ["search/demo/" + article.id, "collections", "duplicates/demo", "compare", "planner"]) {
      await visit(`${name}-${view.split("/")[0]}`, `#/${view}`, options, async page => {
        await page.locator("main h1").waitFor();
        if (view.startsWith("search")) await page.locator(".match").first().waitFor();
        if (view === "collections") await page.locator("[data-collection=demo]").waitFor();
        if (view.startsWith("duplicates")) { await page.getByRole("button", {name: "Find duplicates"}).click(); await page.locator(".cluster").first().waitFor(); }
        if (view === "compare") await page.locator("svg.chart").first().waitFor();
        if (view === "planner") await page.locator("svg.chart").nth(1).waitFor();
        if (options.colorScheme) {
          const [red] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
          assert.ok(red < 60, "it is not dark");
        }
      });
    }
  }
  await visit("phone-side-by-side", `#/search/demo/${article.id}`, phone, async page => {
    await page.locator(".match").first().click();
    await page.locator("dialog mark").first().waitFor();
  });
});

test("the keyboard reaches everything", async () => {
  await visit("keyboard", "#/search/demo", {}, async page => {
    await page.locator("main h1").waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
    const seen = new Set();
    for (let i = 0; i < 25; i += 1) {
      await page.keyboard.press("Tab");
      seen.add(await page.evaluate(() => document.activeElement.textContent || document.activeElement.tagName));
    }
    for (const name of ["Collections", "Planner", "Document", "Search"]) assert.ok(seen.has(name), `${name} is not reached: ${[...seen]}`);
  });
});

test("a server with keys asks for one", async () => {
  const keys = join(tmpdir(), `benzer-page-keys-${process.pid}.json`);
  const key = execFileSync(process.env.BENZER, ["key", "create", "page", "--keys", keys], {encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]}).trim();
  const guarded = await serve("--keys", keys);
  try {
    const {page, context} = await open(browser, guarded.url);
    await page.getByRole("textbox", {name: "Key"}).waitFor();
    assert.deepEqual(await accessibility(page), []);
    await picture(page, "key");
    await page.getByRole("textbox", {name: "Key"}).fill(key);
    await page.getByRole("button", {name: "Use this key"}).click();
    await page.getByLabel("Collection").waitFor();
    await context.close();
  } finally {
    await guarded.stop();
  }
});
