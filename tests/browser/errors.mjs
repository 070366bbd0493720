// The page of an error.
export default async (stage) => {
  for (const dark of [false, true]) {
    const page = await stage.page({ dark, width: 360, expectErrors: true });
    const answer = await stage.goto(page, "/no/such/page");
    stage.equal(answer.status(), 404, "it is a 404");
    stage.equal(await page.locator("h1").textContent(), "This page does not exist", "in words");
    await stage.fits(page, "the error page");
    await stage.accessible(page, `the error page, ${dark ? "dark" : "light"}`);
    await stage.shot(page, dark ? "dark" : "light");
  }
};
