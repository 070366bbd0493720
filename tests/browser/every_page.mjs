// Every page of the table of pages, found by following links: hostile text in every field is text everywhere, nothing
// sticks out of a narrow window, no page is too large, and axe-core finds nothing in light and dark.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const HOSTILE = `<img src=x onerror="window.taken=1">`;
/** Fields that take no free text, and what they are given instead. */
const STRICT = {
  country: "DE", member_states: "DE", lei: "", cve_id: "CVE-2026-12345", cvss_vector: "", cvss_score: "", url: "mailto:risk@bank.example",
  email: "guest@tests.example", annual_cost_eur: "1200", external_id: "", measure_ids: "", measures: "",
};
const KIB_MAX = 150;

/** The pages' paths, from the one table that names them. */
const rows = readFileSync(join(import.meta.dirname, "../../src/pages.rs"), "utf8");
const PATTERNS = [...rows.matchAll(/\b(?:view\(|page\(|door\(\s*Get,)\s*"([^"]+)"/g)]
  .map(([, path]) => path)
  .filter((path) => !/\.(csv|pdf)$/.test(path));
const patternOf = (path) =>
  PATTERNS.find((pattern) => pattern === path) ??
  PATTERNS.find((pattern) => new RegExp(`^${pattern.replace(/\{[^}]+\}/g, "[^/]+")}$`).test(path));

export default async (stage) => {
  stage.ok(PATTERNS.length > 50, `${PATTERNS.length} pages`);
  const page = await stage.page({ expectErrors: true });
  await stage.signIn(page);
  const { made, invitation } = await fillEverything(stage, page);
  const paths = await crawl(stage, page, [...made, "/", "/sign-in", invitation, "/docs"]);
  stage.equal(PATTERNS.filter((pattern) => !paths.has(pattern)), [], "pages that no link leads to");
  for (const [dark, width] of [[false, 1280], [true, 1280], [false, 360]]) await look(stage, paths, dark, width);
  // Other topics know the owner by name.
  await stage.goto(page, "/profile");
  await page.fill("#name", "Odile Owner");
  await Promise.all([page.waitForNavigation(), page.click(`form[action="/profile"] button`)]);
};

/** Makes one object of each kind with hostile text wherever text may stand; gives their addresses. */
async function fillEverything(stage, page) {
  const made = [];
  for (const path of ["/programmes/new", "/test-cases/new", "/findings/new", "/cra-reports/new", "/providers/new", "/arrangements/new", "/webhooks/new"]) {
    await stage.goto(page, path);
    await send(stage, page, "main form.form", path);
    const at = new URL(page.url()).pathname;
    stage.ok(/_0/.test(at), `${path} made something and shows it: ${at}`);
    made.push(at);
  }
  const [programme, testCase, finding, report] = made;
  for (const path of [programme, testCase, finding, report]) {
    await stage.goto(page, path);
    await send(stage, page, "form.note-form", `a note at ${path}`);
  }
  await stage.goto(page, finding);
  await page.click("details > summary");
  await send(stage, page, "details form", "an accepted risk");
  await stage.goto(page, report);
  await send(stage, page, `form[action$="/submissions"]`, "a submission");
  await stage.goto(page, "/profile");
  await send(stage, page, `form[action="/profile"]`, "one's name");
  await stage.goto(page, "/api-keys");
  await send(stage, page, `form[action="/api-keys"]`, "a key");
  await stage.goto(page, "/users");
  await send(stage, page, `form[action="/users"]`, "a user");
  const invitation = new URL(await page.locator("#link").textContent()).pathname;
  return { made, invitation };
}

/** Fills a form with hostile text, gives strict fields what they ask for, and sends it. */
async function send(stage, page, selector, what) {
  const form = page.locator(selector).first();
  const texts = form.locator("input[type=text]:visible, input[type=email]:visible, input[type=url]:visible, input:not([type]):visible, textarea:visible");
  let hostile = 0;
  for (const field of await texts.all()) {
    const name = await field.getAttribute("name");
    const strict = name in STRICT;
    await field.fill(strict ? STRICT[name] : HOSTILE);
    hostile += strict ? 0 : 1;
  }
  for (const field of await form.locator("input[type=number]:visible").all()) {
    if (!(await field.inputValue())) await field.fill("1");
  }
  for (const field of await form.locator("input[type=date]:visible").all()) {
    if ((await field.getAttribute("name")) !== "ends_on") await field.fill("2027-01-31");
  }
  for (const field of await form.locator("input[type=datetime-local]:visible").all()) {
    if (!(await field.inputValue())) await field.fill("2026-11-01T09:00");
  }
  for (const field of await form.locator("select:visible").all()) {
    const options = await field.locator("option").evaluateAll((all) => all.map((each) => each.value).filter(Boolean));
    if (!(await field.inputValue()) && options.length) await field.selectOption(options.at(-1));
  }
  for (const group of await form.locator("fieldset:has(input[type=radio]:visible)").all()) await group.locator("input[type=radio]").last().check();
  for (const group of await form.locator("fieldset:has(input[type=checkbox]:visible)").all()) await group.locator("input[type=checkbox]").first().check();
  stage.ok(hostile > 0, `${what}: there is a text to fill`);
  await Promise.all([page.waitForNavigation(), form.locator("button:not([type=button])").first().click()]);
  const faults = await page.locator("#errors li").allTextContents();
  stage.equal(faults, [], `${what} is taken`);
}

/** Follows links until every pattern has an address. What was just made comes first, so its pages stand for their kind. */
async function crawl(stage, page, begin) {
  const paths = new Map();
  const queue = [...begin];
  const seen = new Set(queue);
  while (queue.length) {
    const path = queue.shift();
    const pattern = patternOf(path.split("?")[0]);
    if (!pattern || paths.has(pattern)) continue;
    if (pattern.startsWith("/sign-in") || pattern.startsWith("/invitation")) {
      paths.set(pattern, path); // seen by strangers; a visit as somebody would lead away
      continue;
    }
    const answer = await stage.goto(page, path);
    stage.equal(answer.status(), 200, path);
    const kib = (await answer.body()).length / 1024;
    stage.ok(kib <= KIB_MAX || pattern === "/docs", `${path}: ${Math.round(kib)} KiB`);
    paths.set(pattern, path);
    await unharmed(stage, page, path);
    const links = await page.locator("a[href^='/']").evaluateAll((all) => all.map((each) => each.getAttribute("href").split("#")[0]));
    for (const link of links) {
      if (!seen.has(link)) queue.push(link);
      seen.add(link);
    }
  }
  return paths;
}

/** No stored text has become an element, or run. */
async function unharmed(stage, page, path) {
  const [elements, taken] = await page.evaluate(() => [document.querySelectorAll("img[src='x']").length, window.taken]);
  stage.equal([elements, taken ?? null], [0, null], `${path}: stored text stays text`);
}

async function look(stage, paths, dark, width) {
  const signed = await stage.page({ dark, width, expectErrors: true });
  const stranger = await stage.page({ dark, width });
  await stage.signIn(signed);
  let shown = 0;
  for (const [pattern, path] of paths) {
    const page = pattern.startsWith("/sign-in") || pattern.startsWith("/invitation") ? stranger : signed;
    const what = `${dark ? "dark" : "light"} ${width} ${path}`;
    stage.equal((await stage.goto(page, path)).status(), 200, what);
    shown += (await page.locator("main").innerText()).includes(HOSTILE) ? 1 : 0;
    await stage.fits(page, what);
    if (width > 500) await stage.accessible(page, what);
  }
  stage.ok(shown >= 12, `hostile text is shown on ${shown} pages`);
}
