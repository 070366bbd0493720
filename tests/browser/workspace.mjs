// The workspace's frame and settings: sign-in, roles, a programme, a key from its making to its end; with and without a
// script, narrow and wide, light and dark.
const PAGES = [
  "/", "/programmes", "/programmes/new", "/profile", "/users", "/api-keys", "/webhooks", "/webhooks/new", "/audit", "/health",
  "/providers", "/register/import",
];

export default async (stage) => {
  await comesIn(stage);
  for (const script of [true, false]) await programme(stage, script);
  for (const script of [true, false]) await register(stage, script);
  await key(stage);
  await viewer(stage);
  for (const dark of [false, true]) {
    for (const width of [1280, 360]) await looks(stage, dark, width);
  }
};

async function comesIn(stage) {
  const page = await stage.page({ expectErrors: true });
  await stage.goto(page, "/programmes?status=active");
  stage.equal(new URL(page.url()).pathname, "/sign-in", "a stranger is asked to sign in");
  await page.fill("#email", "owner@tests.example");
  await page.fill("#password", "not the password");
  await Promise.all([page.waitForNavigation(), page.click("button[type=submit]")]);
  stage.ok(await page.locator("text=Email or password is wrong.").isVisible(), "a wrong password is told as such");
  stage.equal(await page.inputValue("#email"), "owner@tests.example", "what was typed is kept");
  stage.equal(await page.inputValue("#password"), "", "but not the password");
  await stage.accessible(page, "sign-in with a fault");
  await page.fill("#password", stage.password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/programmes?status=active");
  stage.ok(await page.locator(".me b", { hasText: "Odile Owner" }).isVisible(), "the person is named");
  await page.keyboard.press("Tab");
  stage.equal(await page.evaluate(() => document.activeElement.className), "skip", "the first stop skips to the content");
  const [cookie] = (await page.context().cookies()).filter((each) => each.name === "holdfast");
  stage.equal([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Lax", "/"], "the cookie is a closed one");
  await Promise.all([page.waitForNavigation(), page.click("text=Sign out")]);
  stage.ok(await page.locator("text=You are signed out.").isVisible(), "and out again");
  await stage.goto(page, "/programmes");
  stage.equal(new URL(page.url()).pathname, "/sign-in", "the session is over");
}

async function programme(stage, script) {
  const page = await stage.page({ script, expectErrors: true });
  const name = `Browser programme <img src=x onerror=alert(1)> ${script}`;
  await stage.signIn(page, "owner", "?next=%2Fprogrammes");
  await page.click("text=New programme");
  await page.click("text=Save programme");
  stage.equal(await page.locator("#errors li").count(), 2, "every fault is named");
  if (script) await stage.accessible(page, "a form with faults"); // axe needs timers, which a page without script has not
  await page.fill("#name", name);
  await page.selectOption("#framework", "dora");
  await page.fill("#starts_on", "2026-01-01");
  await page.click("text=Save programme");
  stage.ok(await page.locator("text=The programme is saved.").isVisible(), "saved");
  stage.equal(await page.locator("h1").textContent(), name, "with its name as it was typed");
  await page.click("button:has-text('Begin')");
  stage.ok(await page.locator(".meta .st-progress").isVisible(), "moved");
  await page.fill("#body", "A note");
  await page.click("text=Add note");
  stage.ok(await page.locator("blockquote:has-text('A note')").isVisible(), "noted");
  if (script) await stage.accessible(page, "a programme");
  await page.click("text=Delete");
  await page.click("text=Delete programme");
  stage.ok(await page.locator("text=The programme is deleted.").isVisible(), "deleted");
}

// A file in German spelling, with a fault that is mended on the page; then a second file, which changes one row.
async function register(stage, script) {
  const page = await stage.page({ script, expectErrors: true });
  const name = `Müller <b>&</b> Söhne ${script}`;
  await stage.signIn(page, "owner", "?next=%2Fproviders");
  await page.click(".actions >> text=Import");
  const file = (text) => ({ name: "register.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await page.setInputFiles("#file", file(`\ufeffname;country\r\n"${name}";Germany\r\n`));
  await page.click("button:has-text('Check')");
  stage.equal(await page.locator("section[aria-labelledby=h-faults] tbody tr").allTextContents(), ["2countryMust be 2 capital letters."], "the fault is named");
  if (script) await stage.accessible(page, "a file with faults");
  await stage.fits(page, "a file with faults");
  await stage.shot(page, "import-faults");
  await page.fill("#text", (await page.inputValue("#text")).replace("Germany", "DE"));
  await page.click("button:has-text('Check')");
  stage.ok(await page.locator("text=1 row would be added.").isVisible(), "the preview tells what would be done");
  if (script) await stage.accessible(page, "a preview");
  await stage.fits(page, "a preview");
  await stage.shot(page, "import-preview");
  await page.click("button:has-text('Import 1 row')");
  stage.ok(await page.locator("text=1 row is imported.").isVisible(), "imported");
  stage.ok(await page.locator(`a:text-is("${name}")`).isVisible(), "with its name as it was written");
  await stage.goto(page, "/register/import?kind=providers");
  await page.fill("#text", `name\tregion\n${name}\tEU`);
  await page.click("button:has-text('Check')");
  stage.ok(await page.locator("text=none → EU").isVisible(), "a second file changes what is there");
}

async function key(stage) {
  const page = await stage.page({ expectErrors: true });
  await stage.signIn(page, "owner", "?next=%2Fapi-keys");
  await page.fill("#name", "Browser key");
  await page.check("input[name=permissions][value=write]");
  await page.selectOption("#expires", "30");
  await page.click("text=Create key");
  const secret = await page.locator("#key").textContent();
  stage.ok(/^hfast_[0-9A-Za-z]{38}$/.test(secret), "the key is shown");
  await stage.accessible(page, "a key that is shown once");
  await stage.fits(page, "a key that is shown once");
  await stage.shot(page, "key-once");
  await page.click("button[data-copy=key]");
  stage.equal(await page.evaluate(() => navigator.clipboard.readText()), secret, "and copied");
  const ask = async () => (await fetch(`${stage.base}/api/v1/findings?limit=1`, { headers: { Authorization: `Bearer ${secret}` } })).status;
  stage.equal(await ask(), 200, "it opens the API");
  await page.click("text=I have stored it");
  stage.ok(!(await page.content()).includes(secret), "it is not shown again");
  await page.locator("tr", { hasText: "Browser key" }).locator("text=Revoke").first().click();
  await stage.accessible(page, "revoking a key");
  await page.click("button:has-text('Revoke')");
  stage.ok(await page.locator("text=The key is revoked.").isVisible(), "revoked");
  stage.equal(await ask(), 401, "and it opens nothing any more");
}

async function viewer(stage) {
  const page = await stage.page({ expectErrors: true });
  await stage.signIn(page, "viewer");
  stage.equal(await page.locator("nav.nav a[href='/users'], nav.nav a[href='/api-keys'], nav.nav a[href='/audit']").count(), 0, "a viewer is offered nothing of owners");
  stage.equal((await stage.goto(page, "/users")).status(), 403, "and gets nothing of it");
  await stage.accessible(page, "a refusal");
  await stage.goto(page, "/programmes");
  stage.equal(await page.locator("text=New programme").count(), 0, "nor may a viewer make anything");
}

async function looks(stage, dark, width) {
  const name = `${dark ? "dark" : "light"}-${width}`;
  const page = await stage.page({ dark, width, height: width < 500 ? 800 : 900 });
  await stage.signIn(page);
  for (const path of PAGES) {
    await stage.goto(page, path);
    await stage.fits(page, `${name} ${path}`);
    await stage.accessible(page, `${name} ${path}`);
    await stage.shot(page, `${name}${path.replaceAll("/", "-")}`);
  }
  if (width < 500) {
    await page.click("a[href='#menu']");
    stage.ok(await page.locator("nav[aria-label=Main]").isVisible(), "the menu opens in a narrow window");
    await stage.shot(page, `${name}-menu`);
  }
}
