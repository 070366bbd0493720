// German: the browser's wish at the door, the choice in the profile, and that the longer words fit every page, narrow and
// wide, light and dark.
const PAGES = [
  "/", "/programmes", "/programmes/new", "/test-cases", "/test-cases/new", "/findings", "/findings/new", "/cra-reports",
  "/cra-reports/new", "/timeline", "/concentration", "/thresholds", "/providers", "/providers/new", "/arrangements",
  "/arrangements/new", "/measures", "/evidence", "/gap-analysis", "/radar", "/drills", "/training", "/webhooks",
  "/webhooks/new", "/api-keys", "/users", "/audit", "/health", "/profile",
];
const LISTS = ["/programmes", "/test-cases", "/findings", "/cra-reports", "/providers", "/arrangements", "/measures", "/drills"];

export default async (stage) => {
  await chooses(stage);
  for (const [dark, width] of [[false, 360], [true, 360], [false, 1280]]) await looks(stage, dark, width);
};

async function chooses(stage) {
  const page = await stage.page({ locale: "de-AT", expectErrors: true });
  await stage.goto(page, "/nothing-here");
  stage.ok(await page.locator("h1:has-text('Diese Seite gibt es nicht')").isVisible(), "an error in the browser's language");
  await stage.signIn(page, "viewer", "?next=%2Fprofile");
  const lang = () => page.evaluate(() => document.documentElement.lang);
  stage.equal(await lang(), "de", "the browser decides first");
  stage.equal(await page.locator("input[name=language]:checked").inputValue(), "browser", "and nobody chose yet");
  await page.check("input[name=language][value=en]");
  await page.click("text=Sprache speichern");
  stage.equal([await lang(), await page.locator("h1").textContent()], ["en", "Your profile"], "English, as chosen");
  await page.check("input[name=language][value=browser]");
  await page.click("text=Save language");
  stage.equal([await lang(), await page.locator("h1").textContent()], ["de", "Ihr Profil"], "and back to the browser's");
}

async function looks(stage, dark, width) {
  const name = `${dark ? "dark" : "light"}-${width}`;
  const page = await stage.page({ dark, width, height: width < 500 ? 800 : 900, locale: "de-DE" });
  await stage.goto(page, "/sign-in");
  await stage.fits(page, `${name} /sign-in`);
  await stage.accessible(page, `${name} /sign-in`);
  await stage.signIn(page);
  const paths = [...PAGES];
  for (const list of LISTS) {
    await stage.goto(page, list);
    const first = await page.locator("tbody th a").first().getAttribute("href");
    paths.push(first);
    if (!["/measures", "/drills"].includes(list)) paths.push(`${first}/edit`);
  }
  for (const path of paths) {
    await stage.goto(page, path);
    stage.equal(await page.evaluate(() => document.documentElement.lang), "de", `${path} is German`);
    await stage.fits(page, `${name} ${path}`);
    await cut(stage, page, `${name} ${path}`);
    if (width < 500) await stage.accessible(page, `${name} ${path}`);
    await stage.shot(page, `${name}${path.replaceAll("/", "-")}`, { fullPage: true });
  }
  if (width < 500) {
    await page.click("a[href='#menu']");
    stage.ok(await page.locator("nav[aria-label=Hauptnavigation]").isVisible(), "the menu opens in a narrow window");
    await stage.shot(page, `${name}-menu`);
  }
}

/** No word of a button, a badge, a label or the navigation is wider than its place. */
async function cut(stage, page, what) {
  const wide = await page.evaluate(() => {
    const all = document.querySelectorAll(".btn, button, .st, .sev, .pill, label, legend, th, dt, dd, nav a, h1, h2, h3, .chip");
    const seen = [...all].filter((each) => each.checkVisibility() && !each.closest(".vh, .scroll") && each.clientWidth > 0);
    return seen.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => `${each.tagName} ${each.textContent.trim().slice(0, 60)}`);
  });
  stage.equal(wide, [], `${what}: texts that are wider than their place`);
}
