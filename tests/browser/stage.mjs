// What every browser topic needs: pages that watch their own requests and errors, and a few checks.
import assert from "node:assert/strict";
import { join } from "node:path";

export class Stage {
  checks = 0;
  #open = [];

  constructor(parts) {
    Object.assign(this, parts);
  }

  /** A page in a context of its own. It fails the topic if it asks another host or complains. */
  async page({ dark = false, width = 1280, height = 900, script = true, expectErrors = false, locale = "en-GB" } = {}) {
    const context = await this.browser.newContext({
      colorScheme: dark ? "dark" : "light", viewport: { width, height }, javaScriptEnabled: script, locale,
      permissions: script ? ["clipboard-read", "clipboard-write"] : [],
    });
    const page = await context.newPage();
    const seen = { requests: [], complaints: [] };
    page.on("request", (request) => seen.requests.push(request.url()));
    page.on("pageerror", (error) => seen.complaints.push(`page error: ${error}`));
    page.on("console", (message) => {
      const ours = message.type() === "error" || message.type() === "warning";
      // A refusal that a topic provokes is told by the browser as well.
      const provoked = expectErrors && message.text().startsWith("Failed to load resource");
      if (ours && !provoked) seen.complaints.push(`console: ${message.text()}`);
    });
    this.#open.push({ context, seen });
    page.seen = seen;
    return page;
  }

  async goto(page, path) {
    const answer = await page.goto(this.base + path, { waitUntil: "load" });
    return answer;
  }

  /** Signs somebody in: owner or viewer. */
  async signIn(page, role = "owner", next = "") {
    await this.goto(page, `/sign-in${next}`);
    await page.fill("#email", `${role}@tests.example`);
    await page.fill("#password", this.password);
    await Promise.all([page.waitForNavigation(), page.click("form.form button[type=submit]")]);
  }

  equal(actual, expected, what) {
    assert.deepEqual(actual, expected, what);
    this.checks += 1;
  }

  ok(truth, what) {
    assert.ok(truth, what);
    this.checks += 1;
  }

  /** axe-core finds nothing. It is put in past the page's policy, which lets no foreign script run. */
  async accessible(page, what) {
    const client = await page.context().newCDPSession(page);
    const run = `(async () => { ${this.axe}; return JSON.stringify((await axe.run(document)).violations); })()`;
    const { result, exceptionDetails } = await client.send("Runtime.evaluate", {
      expression: run, awaitPromise: true, returnByValue: true,
    });
    assert.ok(!exceptionDetails, `${what}: ${JSON.stringify(exceptionDetails)}`);
    const violations = JSON.parse(result.value).map(
      (each) => `${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`,
    );
    this.equal(violations, [], `axe: ${what}`);
  }

  /** Nothing sticks out to the right. */
  async fits(page, what) {
    const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    this.ok(inner <= outer, `${what}: ${inner} px wide in ${outer} px`);
  }

  async shot(page, name, options = {}) {
    await page.screenshot({ path: join(this.shots, `${this.topic}-${name}.png`), ...options });
  }

  /** Ends the topic: no page may have asked another host, or complained. */
  async close() {
    for (const { context, seen } of this.#open) {
      await context.close();
      const outside = seen.requests.filter((url) => !url.startsWith(this.base) && !url.startsWith("data:"));
      assert.deepEqual(outside, [], "requests to other hosts");
      assert.deepEqual(seen.complaints, [], "complaints of the page");
    }
    this.#open = [];
  }
}
