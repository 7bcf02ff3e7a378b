import { beforeEach, describe, expect, it } from "bun:test";
import type { Route } from "playwright-core";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();
beforeEach(async () => {
  await place.plant(["9007199254740993,Monstera,tropical", "9007199254740994,Ginkgo,tree"]);
});

describe("when things go wrong, the page", () => {
  it("says that it is offline, and recovers by itself when it is online again", async () => {
    place.expectStatus(0);
    const { page, signIn, sees, reads, button } = await place.visit();
    await signIn();
    await sees(["Monstera", "Ginkgo"]);
    await page.context().setOffline(true);
    await reads("You are offline.");
    await button(/^tree/).first().click();
    await reads("The service cannot be reached: check the connection, then try again.");
    await page.context().setOffline(false);
    await page.getByText("You are offline.").waitFor({ state: "hidden" });
    await sees(["Ginkgo"]);
  });

  it("says that the service does not answer, keeps your input, and saves it when the service is back", async () => {
    place.expectStatus(0);
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await button("Edit Ginkgo").click();
    await field("Name").fill("Ginkgo biloba");
    await page.route(`${place.service.url}/**`, (route: Route) => route.abort("connectionrefused"));
    await button("Save").click();
    await reads("The service cannot be reached: check the connection, then try again.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Save").click();
    await sees(["Monstera", "Ginkgo biloba"]);
    await page.getByText("The service does not respond.").waitFor({ state: "hidden" });
  });

  it("stays where it was scrolled to when the connection was away in between, and goes on there", async () => {
    place.expectStatus(0);
    await place.plant(Array.from({ length: 3_000 }, (_, at) => `${at + 1},Plant ${at + 1},`));
    const { page, signIn, reads, button } = await place.visit();
    await signIn();
    const toEnd = () => page.evaluate("scrollTo(0, document.body.scrollHeight)");
    for (const loaded of ["600", "1,100"]) {
      await reads(`The first ${loaded} are here`);
      await toEnd();
    }
    await reads("The first 1,600 are here");
    await page.context().setOffline(true);
    await toEnd();
    await button("Try again").waitFor();
    // As if another window came before the page, and went again: the page asks for its rows, and gets none.
    const asked = Promise.withResolvers<void>();
    await page.route("**/plants?*", async (route) => {
      await asked.promise;
      await route.abort();
    });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await button("Try again").waitFor({ state: "detached" });
    asked.resolve();
    await button("Try again").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const before = await page.evaluate<number>("scrollY");
    await page.context().setOffline(false);
    await button("Try again").waitFor({ state: "detached" });
    // All that was here is read again, in pages of a thousand.
    await reads("The first 2,000 are here");
    // The button is gone that stood below the rows.
    expect(await page.evaluate<number>("scrollY")).toBeGreaterThan(before - 200);
  });

  it("says in plain words that the service is busy, and tries again if asked to", async () => {
    place.expectStatus(503);
    const { page, signIn, sees, reads, button, field } = await place.visit();
    await signIn();
    await sees(["Monstera", "Ginkgo"]);
    await page.route("**/plants?*", (route) =>
      route.fulfill({
        status: 503,
        headers: { "retry-after": "0" },
        contentType: "application/json",
        body: JSON.stringify({ error: 50304, message: "The search index is being built: try again after the seconds in Retry-After." }),
      }),
    );
    await field("Search names").fill("m");
    await reads("The search is not ready yet: try again in a moment.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await field("Search names").fill("");
    await sees(["Monstera", "Ginkgo"]);
    await page.route("**/plants?*", (route) => route.fulfill({ status: 503, headers: { "retry-after": "60" }, body: "" }));
    await button(/^tree/).first().click();
    await reads("Something else responded instead of the service (503): try again.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Try again").click();
    await sees(["Ginkgo"]);
  });

  it("shows what is stored in a browser that translates pages, as it leaves this one alone", async () => {
    const { page, signIn, sees, field, button } = await place.visit();
    await signIn();
    await sees(["Monstera", "Ginkgo"]);
    await page.evaluate(TRANSLATE_PAGE);
    await field("Search names").fill("gink");
    await sees(["Ginkgo"]);
    await button("Edit Ginkgo").click();
    await field("Name").fill("Ginkgo biloba");
    await button("Save").click();
    await sees(["Ginkgo biloba"]);
  });

  it("keeps the shown plants if the next page fails, and loads it if asked to", async () => {
    place.expectStatus(503);
    await place.plant(Array.from({ length: 300 }, (_, at) => `${at},Plant ${at},`));
    const { page, signIn, reads, button, rows } = await place.visit();
    await page.route("**/plants?*after=*", (route) => route.fulfill({ status: 503, headers: { "retry-after": "60" }, body: "" }));
    await signIn();
    await rows.first().waitFor();
    await reads("The first 100 plants.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Try again").click();
    await reads(/^302 plants\.$/);
  });
});

/** Does what the translation of Chromium does: it puts an element with a new text in the place of each text that may be translated. */
const TRANSLATE_PAGE = `
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts.filter(({ parentElement }) => parentElement?.closest("script, style, [translate=no]") === null)) {
    const translated = document.createElement("font");
    translated.textContent = text.data;
    text.replaceWith(translated);
  }
`;
