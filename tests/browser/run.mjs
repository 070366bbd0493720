// Runs every topic of this folder in a real browser against a running server:
//   BASE=http://127.0.0.1:8080 KEY=hfast_... PASSWORD=... BINARY=target/debug/holdfast TOOLS=folder-with-node_modules \
//   node tests/browser/run.mjs [topic...]
// A topic is a file NAME.mjs with `export default async (stage) => {...}`; what fails throws.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Stage } from "./stage.mjs";

const { BASE, KEY, PASSWORD, BINARY, TOOLS, CHROMIUM = "/usr/bin/chromium" } = process.env;
if (!BASE || !KEY || !PASSWORD || !BINARY || !TOOLS) throw new Error("BASE, KEY, PASSWORD, BINARY and TOOLS must be set");
const tools = createRequire(join(resolve(TOOLS), "package.json"));
const { chromium } = tools("playwright-core");
const axe = readFileSync(tools.resolve("axe-core/axe.min.js"), "utf8");
const shots = join(resolve(TOOLS), "shots");
mkdirSync(shots, { recursive: true });

const here = import.meta.dirname;
const wanted = process.argv.slice(2);
const topics = readdirSync(here)
  .filter((file) => file.endsWith(".mjs") && !["run.mjs", "stage.mjs"].includes(file))
  .filter((file) => !wanted.length || wanted.includes(basename(file, ".mjs")));

const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
const browser = await chromium.launch({ executablePath: CHROMIUM, args });
let failed = 0;
for (const file of topics) {
  const stage = new Stage({ browser, base: BASE, key: KEY, password: PASSWORD, axe, shots, topic: basename(file, ".mjs") });
  try {
    await (await import(join(here, file))).default(stage);
    await stage.close();
    console.log(`browser: ${file}: ${stage.checks} checks passed`);
  } catch (error) {
    failed += 1;
    console.error(`browser: ${file}: FAILED: ${error.stack ?? error}`);
  }
  await stage.close().catch(() => {}); // what a failed topic left open is shut; its failure is told already
}
await browser.close();
process.exit(failed || !topics.length ? 1 : 0);
