// Takes the README's pictures of a running `holdfast demo`:
//   BASE=http://127.0.0.1:8080 FIRST_RUN=holdfast-demo.db.first-run TOOLS=target/test-tools node docs/screenshots/take.mjs
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const { BASE, FIRST_RUN, TOOLS, CHROMIUM = "/usr/bin/chromium" } = process.env;
const { chromium } = createRequire(join(resolve(TOOLS), "package.json"))("playwright-core");
const told = readFileSync(FIRST_RUN, "utf8");
const line = (name) => told.match(new RegExp(`^\\s+${name}\\s+(\\S+)$`, "m"))[1];

/** Name of the picture, the page or the list whose first entry is shown, dark or light, the language. */
const PICTURES = [
  ["dashboard", "/", false, "en"],
  ["findings", "/findings", false, "en"],
  ["finding", "/findings?status=in_progress >", true, "en"],
  ["cra-report", "/cra-reports >", false, "en"],
  ["concentration", "/concentration", false, "de"],
];

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
for (const [name, where, dark, locale] of PICTURES) {
  const context = await browser.newContext({
    colorScheme: dark ? "dark" : "light", locale, viewport: { width: 1280, height: 860 },
  });
  const page = await context.newPage();
  await page.goto(`${BASE}/sign-in`);
  await page.fill("#email", line("owner"));
  await page.fill("#password", line("password"));
  await Promise.all([page.waitForNavigation(), page.click("form.form button[type=submit]")]);
  const [path, first] = where.split(" ");
  await page.goto(BASE + path);
  if (first) await page.goto(BASE + (await page.locator(`main tbody a[href^="${path.split("?")[0]}/"]`).first().getAttribute("href")));
  await page.screenshot({ path: join(import.meta.dirname, `${name}.png`) });
  await context.close();
}
await browser.close();
