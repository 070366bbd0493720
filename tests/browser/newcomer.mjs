// The whole path of somebody new, from the first start of the binary to a revoked key: their own server with an empty
// folder, a receiver for the webhook's messages, and the PDF read back.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stage } from "./stage.mjs";

const TITLE = "Wiederherstellung dauert länger als 4 Stunden (Łódź, Αθήνα)";

export default async (stage) => {
  const folder = mkdtempSync(join(tmpdir(), "newcomer-"));
  const receiver = await Receiver.start();
  const server = await firstStart(folder, receiver.address);
  const own = new Stage({ ...stage, base: server.base });
  try {
    await walk(own, folder, receiver);
    await own.close();
  } finally {
    stage.checks += own.checks;
    await own.close().catch(() => {}); // the first failure is the one to tell
    server.process.kill();
    await once(server.process, "exit");
    receiver.stop();
    rmSync(folder, { recursive: true });
  }
};

async function walk(stage, folder, receiver) {
  const page = await stage.page({ expectErrors: true });
  await signsIn(stage, page, readFileSync(join(folder, "holdfast.db.first-run"), "utf8"));
  await webhook(stage, page, receiver);
  await programme(stage, page);
  await testCase(stage, page);
  const finding = await files(stage, page, receiver);
  await moves(stage, page, receiver);
  await prints(stage, page, folder, finding);
  await key(stage, page);
}

/** The binary as it comes: no settings but the port and where webhooks may go. */
async function firstStart(folder, address) {
  const child = spawn(process.env.BINARY, ["--listen", "127.0.0.1:0"], {
    cwd: folder, stdio: ["ignore", "pipe", "ignore"], env: { HOLDFAST_ALLOW_SLACK: address },
  });
  let told = "";
  for await (const part of child.stdout) {
    told += part;
    const [, base] = told.match(/^listening on (\S+)$/m) ?? [];
    if (base) return { process: child, base };
  }
  throw new Error(`the server did not start: ${told}`);
}

/** A chat server that keeps what it is told. */
class Receiver {
  #got = [];
  #waiting = null;

  static async start() {
    const receiver = new Receiver();
    receiver.server = createServer(async (request, response) => {
      let body = "";
      for await (const part of request) body += part;
      response.end("ok");
      receiver.#got.push(body);
      receiver.#waiting?.();
    });
    receiver.server.listen(0, "127.0.0.1");
    await once(receiver.server, "listening");
    receiver.address = `http://127.0.0.1:${receiver.server.address().port}/`;
    return receiver;
  }

  /** The next message that says so, within ten seconds. */
  async message(words) {
    const late = Date.now() + 10_000;
    for (;;) {
      const found = this.#got.find((body) => words.every((word) => body.includes(word)));
      if (found) return found;
      if (Date.now() > late) throw new Error(`no message says ${words}: ${this.#got}`);
      await Promise.race([new Promise((heard) => (this.#waiting = heard)), new Promise((again) => setTimeout(again, 200))]);
    }
  }

  stop() {
    this.server.close();
  }
}

const press = (page, what) => Promise.all([page.waitForNavigation(), page.locator(what).first().click()]);
const line = (text, name) => text.match(new RegExp(`^\\s+${name}\\s+(\\S+)$`, "m"))[1];

async function signsIn(stage, page, told) {
  await stage.goto(page, "/");
  stage.equal(new URL(page.url()).pathname, "/sign-in", "a new installation asks to sign in");
  await page.fill("#email", line(told, "owner"));
  await page.fill("#password", line(told, "password"));
  await press(page, "form.form button[type=submit]");
  stage.equal(new URL(page.url()).pathname, "/", "the password of the first run opens the dashboard");
  await stage.accessible(page, "the dashboard of an empty workspace");
  await stage.shot(page, "empty-dashboard");
}

async function webhook(stage, page, receiver) {
  await stage.goto(page, "/webhooks/new");
  await page.fill("#name", "Security chat");
  await page.check("input[name=channel][value=slack]");
  await page.fill("#url", `${receiver.address}hook`);
  for (const event of ["finding.created", "finding.status_changed"]) await page.check(`input[name=events][value="${event}"]`);
  await press(page, "text=Save webhook");
  await press(page, "form[action$='/test'] button");
  await receiver.message(["Security chat"]);
  // It is recorded a moment after it was sent.
  const told = page.locator("tbody tr", { hasText: "200" });
  for (let tries = 0; tries < 50 && !(await told.count()); tries += 1) await page.reload();
  stage.equal(await told.count(), 1, `the delivery log tells of the test message: ${await page.locator("main").innerText()}`);
}

async function programme(stage, page) {
  await stage.goto(page, "/programmes");
  await press(page, "a[href='/programmes/new']");
  await page.fill("#name", "Resilience testing 2027");
  await page.selectOption("#framework", "dora");
  await page.fill("#starts_on", "2027-01-01");
  await press(page, "main form.form button[type=submit]");
  stage.equal(await page.locator("h1").textContent(), "Resilience testing 2027", "the programme is there");
}

async function testCase(stage, page) {
  await stage.goto(page, "/test-cases/new");
  await page.fill("#title", "Restore the core banking system");
  await page.selectOption("#programme_id", { label: "Resilience testing 2027" });
  await page.selectOption("#type", { index: 1 });
  await press(page, "main form.form button[type=submit]");
  stage.equal(await page.locator("h1").textContent(), "Restore the core banking system", "the test case is there");
}

async function files(stage, page, receiver) {
  await stage.goto(page, "/findings/new");
  await page.fill("#title", TITLE);
  await page.fill("#description", "The restore took 9 hours.\nThe goal is 4.");
  await page.check("input[name=severity][value=high]");
  await page.selectOption("#programme_id", { label: "Resilience testing 2027" });
  await press(page, "main form.form button[type=submit]");
  stage.equal(await page.locator("h1").textContent(), TITLE, "the finding is there");
  await receiver.message(["Wiederherstellung dauert", "Łódź"]);
  stage.checks += 1;
  return new URL(page.url()).pathname;
}

async function moves(stage, page, receiver) {
  const offered = await page.locator("form.why button[name=status]").evaluateAll((all) => all.map((each) => each.value));
  stage.equal(offered.sort(), ["false_positive", "in_progress"], "only what an open finding may become is offered");
  await press(page, "form.why button[value=in_progress]");
  stage.ok(await page.locator(".meta .st-progress").isVisible(), "it has moved");
  await receiver.message(["Wiederherstellung dauert", "is now in progress"]);
  stage.checks += 1;
}

async function prints(stage, page, folder, finding) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`a[href="${finding}/export.pdf"]`)]);
  const file = join(folder, "finding.pdf");
  await download.saveAs(file);
  const text = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" });
  const flat = text.replace(/\s+/g, " ");
  for (const part of [TITLE, "The restore took 9 hours.", "In progress", "High", "Resilience testing 2027", "owner@localhost"]) {
    stage.ok(flat.includes(part), `the PDF tells "${part}": ${flat.slice(0, 400)}`);
  }
}

async function key(stage, page) {
  await stage.goto(page, "/api-keys");
  await page.fill("#name", "Reporting");
  await press(page, "text=Create key");
  const secret = await page.locator("#key").textContent();
  const ask = () => fetch(`${stage.base}/api/v1/findings`, { headers: { Authorization: `Bearer ${secret}` } });
  const answer = await ask();
  stage.equal(answer.status, 200, "the key opens the API");
  stage.equal((await answer.json()).data.map((each) => [each.title, each.status]), [[TITLE, "in_progress"]], "which tells the same");
  await press(page, "text=I have stored it");
  await page.locator("tr", { hasText: "Reporting" }).locator("text=Revoke").first().click();
  await press(page, "button:has-text('Revoke')");
  stage.equal((await ask()).status, 401, "a revoked key opens nothing");
}
