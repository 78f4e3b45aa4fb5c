// A server with the sample collection, a browser, and pages that remember every complaint.
import {spawn} from "node:child_process";
import {createRequire} from "node:module";
import {readFileSync} from "node:fs";
import {once} from "node:events";
import {createInterface} from "node:readline";
import {join} from "node:path";

const require = createRequire(join(process.env.PAGE_MODULES, "from.js"));
const {chromium} = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export async function serve(...more) {
  const child = spawn(process.env.BENZER, ["serve", "--db", "memory:", "--demo", "--listen", "127.0.0.1:0", "--format", "json", "--log-level", "warn", ...more], {stdio: ["ignore", "pipe", "inherit"]});
  const [line] = await once(createInterface({input: child.stdout}), "line");
  return {url: JSON.parse(line).url, stop: () => { child.kill("SIGTERM"); return once(child, "exit"); }};
}

export const browse = () => chromium.launch({executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});

export const desktop = {viewport: {width: 1280, height: 900}}, phone = {viewport: {width: 390, height: 844}, isMobile: true, hasTouch: true};

// A page whose console must stay silent.
export async function open(browser, url, options = desktop) {
  const context = await browser.newContext({colorScheme: "light", acceptDownloads: true, bypassCSP: false, ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  const complaints = [];
  page.on("console", message => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", error => complaints.push(String(error)));
  page.on("requestfailed", request => { if (!request.failure()?.errorText.includes("ERR_ABORTED")) complaints.push(`${request.url()} ${request.failure()?.errorText}`); });
  page.on("request", request => { if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith("blob:") && !request.url().startsWith("data:")) complaints.push(`a request to ${request.url()}`); });
  await page.goto(url);
  return {page, context, complaints};
}

// The serious complaints of axe about what is shown.
export async function accessibility(page) {
  await page.evaluate(axe).catch(() => page.addScriptTag({content: axe}));
  const {violations} = await page.evaluate(() => globalThis.axe.run(document, {resultTypes: ["violations"]}));
  return violations.filter(one => ["serious", "critical"].includes(one.impact)).map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(" | ")}`);
}

// How far the page scrolls sideways.
export const sideways = page => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

let number = 0;
export async function picture(page, name) {
  if (process.env.PICTURES) await page.screenshot({path: join(process.env.PICTURES, `${String(number += 1).padStart(2, "0")}-${name}.png`), fullPage: false});
}
