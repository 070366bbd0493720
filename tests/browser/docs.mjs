// The documentation page: reading, trying, keyboard, narrow, light and dark.
const OPEN = ["get_v1_findings", "post_v1_findings", "patch_v1_webhooks_webhook", "get_risk_register", "delete_v1_webhooks_webhook"];

export default async (stage) => {
  await reads(stage);
  await tries(stage);
  await finds(stage);
  for (const dark of [false, true]) {
    for (const width of [1280, 360]) await looks(stage, dark, width);
  }
};

/** Everything can be read without a script, and nothing is offered that would need one. */
async function reads(stage) {
  const page = await stage.page({ script: false });
  const answer = await stage.goto(page, "/docs");
  stage.equal(answer.status(), 200, "the page is there");
  stage.ok((await page.locator("details.op").count()) > 70, "every route is on the page");
  stage.equal(await page.locator("form:visible").count(), 0, "no form without a script");
  stage.equal(await page.locator("button:visible").count(), 0, "no button without a script");
  const route = page.locator("details.op", { has: page.locator("#get_v1_findings") });
  await route.locator("summary").focus();
  await page.keyboard.press("Enter");
  stage.ok(await route.locator("text=Only findings of this severity.").isVisible(), "the keyboard opens a route");
  stage.ok((await route.locator("pre").first().textContent()).includes("curl '"), "with a line to paste");
}

async function tries(stage) {
  const page = await stage.page({ expectErrors: true });
  await stage.goto(page, "/docs#get_v1_findings");
  const form = page.locator("#get_v1_findings form.try");
  await form.waitFor({ state: "visible" });
  const send = async (where) => {
    await where.locator("button[type=submit]").click();
    await where.locator(".try-status", { hasText: /\d{3}, |key|reached|Fill/ }).waitFor();
    return where.locator(".try-status").textContent();
  };
  stage.ok((await send(form)).includes("key"), "without a key it asks for one");
  await page.fill("#key", stage.key);
  await form.locator("[data-name=limit]").fill("2");
  await form.locator("[data-name=severity]").selectOption("high");
  stage.ok((await send(form)).startsWith("200"), "with a key it answers");
  const listed = JSON.parse(await form.locator(".try-answer").textContent());
  stage.equal([listed.meta.limit, listed.data.every((finding) => finding.severity === "high")], [2, true], "as asked");

  await page.evaluate(() => { location.hash = "post_v1_findings"; });
  const post = page.locator("#post_v1_findings form.try");
  await post.locator("textarea").fill("{}");
  stage.ok((await send(post)).startsWith("422"), "a fault is shown");
  stage.ok((await post.locator(".try-answer").textContent()).includes("\"title\": \"is required\""), "with its fields");

  const copy = page.locator("[data-copy=get_v1_findings-curl]");
  await copy.click();
  await page.locator("[data-copy=get_v1_findings-curl]", { hasText: "Copied" }).waitFor();
  stage.ok((await page.evaluate(() => navigator.clipboard.readText())).startsWith("curl 'http"), "the line is copied");

  await page.evaluate(() => { location.hash = "get_ping"; });
  const ping = page.locator("#get_ping form.try");
  stage.ok((await send(ping)).startsWith("200"), "an open route needs no key");

  stage.ok(page.seen.requests.every((url) => !url.includes(stage.key)), "the key is in no address");
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  stage.equal(kept, "[{},{},\"\"]", "the key is stored nowhere");
  await page.reload();
  stage.equal(await page.inputValue("#key"), "", "a new load knows no key");
}

async function finds(stage) {
  const page = await stage.page();
  await stage.goto(page, "/docs");
  await page.fill("#find-routes", "breaches");
  stage.equal(await page.locator("details.op:visible").count(), 1, "the search finds one route");
  await page.fill("#find-routes", "no such words");
  stage.ok(await page.locator(".empty-find").isVisible(), "and says when there is none");
}

async function looks(stage, dark, width) {
  const name = `${dark ? "dark" : "light"}-${width}`;
  const page = await stage.page({ dark, width, height: width < 500 ? 800 : 900 });
  for (const [path, shown] of [["/sign-in", "sign-in"], ["/docs", "top"]]) {
    await stage.goto(page, path);
    await stage.fits(page, `${name} ${path}`);
    if (path === "/sign-in") await stage.accessible(page, `${name} ${path}`);
    await stage.shot(page, `${shown}-${name}`);
  }
  await page.evaluate((ids) => {
    for (const id of ids) document.getElementById(id).closest("details").open = true;
  }, OPEN);
  await stage.fits(page, `${name} with open routes`);
  await stage.accessible(page, `${name} with open routes`);
  for (const id of OPEN.slice(0, 2)) {
    await page.locator(`#${id}`).evaluate((body) => body.closest("details").scrollIntoView());
    await stage.shot(page, `${id}-${name}`);
  }
  if (width < 500) {
    await page.click("a[href='#menu']");
    stage.ok(await page.locator("nav[aria-label=Contents]").isVisible(), "the contents open in a narrow window");
    await stage.shot(page, `menu-${name}`);
  }
}
