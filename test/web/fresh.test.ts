import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { asks, hold } from "../support/web/hold.ts";
import { usePlace } from "../support/web/place.ts";
import { settle } from "../support/web/settle.ts";

const place = usePlace();

const FEW = ["1,Acer,tree", "2,Ginkgo,tree"];
const MANY = Array.from({ length: 3_000 }, (_, at) => `${at},Plant ${at},${at % 2 === 0 ? "even" : "odd"}`);

/** As if another window came before the page, and went again. */
async function showAgain(page: Page): Promise<void> {
  for (const state of ["hidden", "visible"]) {
    await page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true })`);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  }
}

/** The first row in the middle of the window. */
function rowInSight(page: Page): Promise<string> {
  return page.evaluate<string>("document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('tr').dataset.at");
}

/**
 * The row in sight is the same, or next to it: a line above that comes while rows are drawn anew may move them by its height, because a
 * browser that draws other rows has none left to hold on to.
 */
async function expectInSight(page: Page, row: string): Promise<void> {
  expect(Math.abs(Number(await rowInSight(page)) - Number(row))).toBeLessThanOrEqual(1);
}

async function change(name: string): Promise<void> {
  await place.service.request("/plants/2", {
    method: "PUT",
    body: JSON.stringify({ name }),
    headers: { "content-type": "application/json" },
  });
}

async function makeToken(): Promise<Readonly<{ id: string; token: string }>> {
  const body = JSON.stringify({ name: "short", scopes: ["plants:read"] });
  return (await (await place.service.request("/tokens", { method: "POST", body })).json()) as { id: string; token: string };
}

describe("the list", () => {
  it("leaves the focus with its plant when another comes above it, so that no other one is deleted", async () => {
    await place.plant(FEW);
    const { page, signIn, sees, button } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Delete Ginkgo").focus();
    await place.service.post('{"id":0,"name":"Abies"}');
    await showAgain(page);
    await sees(["Abies", "Acer", "Ginkgo"]);
    expect(await page.evaluate<string>("document.activeElement.ariaLabel")).toBe("Delete Ginkgo");
  });

  it("keeps the focus on the plants when somebody else deletes the one that has it", async () => {
    await place.plant(FEW);
    const { page, signIn, sees, button } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Delete Ginkgo").focus();
    await place.service.request("/plants/2", { method: "DELETE" });
    await showAgain(page);
    await sees(["Acer"]);
    await until("the plants have the focus", async () => (await page.evaluate<string>("document.activeElement.id")) === "plants");
  });

  it("is read again when the page comes into sight, and when somebody asks for it", async () => {
    await place.plant(FEW);
    const { page, signIn, sees, button } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await change("Ginkgo biloba");
    await showAgain(page);
    await sees(["Acer", "Ginkgo biloba"]);
    await change("Maidenhair");
    await button("Refresh").click();
    await sees(["Acer", "Maidenhair"]);
  });

  it("is not sent again if nothing has changed", async () => {
    await place.plant(FEW);
    const { page, signIn, sees, button } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    const response = page.waitForResponse(/\/plants\?/);
    await button("Refresh").click();
    expect((await response).status()).toBe(304);
    await sees(["Acer", "Ginkgo"]);
  });

  it("stays as it is if it cannot be read again", async () => {
    place.expectStatus(503);
    await place.plant(FEW);
    const { page, signIn, sees, button } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await page.route("**/plants?*", (route) => route.fulfill({ status: 503, headers: { "retry-after": "60" }, body: "" }));
    const response = page.waitForResponse(/\/plants\?/);
    await button("Refresh").click();
    await response;
    await page.locator('section[aria-busy="false"]').waitFor();
    await sees(["Acer", "Ginkgo"]);
  });

  it("is that of the search on its way, if the page comes into sight meanwhile", async () => {
    await place.plant(FEW);
    const { page, signIn, sees, field } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    const late = Promise.withResolvers<void>();
    await page.route("**/plants?*q=*", async (route) => {
      await late.promise;
      await route.continue().catch(() => {});
    });
    const [searching] = await Promise.all([page.waitForRequest(/\/plants\?.*q=/), field("Search names").fill("ginkgo")]);
    const again = page.waitForRequest((request) => /\/plants\?/.test(request.url()) && request !== searching);
    await showAgain(page);
    await again;
    late.resolve();
    await sees(["Ginkgo"]);
    expect(await field("Search names").inputValue()).toBe("ginkgo");
  });

  it("is read again when somebody has signed in again, as it may have been old for hours", async () => {
    place.expectStatus(401);
    await place.plant(FEW);
    const [old, next] = [await makeToken(), await makeToken()];
    const { page, signIn, sees, field } = await place.visit();
    await signIn(old.token);
    await sees(["Acer", "Ginkgo"]);
    await change("Ginkgo biloba");
    await place.service.request(`/tokens/${old.id}`, { method: "DELETE" });
    // The service remembers a token for half a second.
    await Bun.sleep(700);
    await showAgain(page);
    await field("Token").waitFor();
    await signIn(next.token);
    await sees(["Acer", "Ginkgo biloba"]);
  });

  it("is read again when the service is reached again, and has nothing of what nobody knew to be deleted", async () => {
    place.expectStatus(0);
    await place.plant(FEW);
    const { page, signIn, sees, reads, button } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await page.clock.install();
    // The service makes the change, and its response is lost, at each try.
    await page.route("**/plants/changes", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await button("Delete Acer").click();
    await page.clock.fastForward(9_000);
    await until("it is deleted", async () => (await place.service.request("/plants/1")).status === 404);
    await until("the page knows nothing", async () => {
      await page.clock.fastForward(1_000);
      return page.getByText("It is not certain that “Acer” is deleted.").first().isVisible();
    });
    await reads("The service does not respond");
    await page.clock.fastForward(4_000);
    await page.getByText("The service does not respond").waitFor({ state: "detached" });
    await page.clock.fastForward(1_000);
    await sees(["Ginkgo"]);
  });

  it("is read again from its beginning when asked for, also after the rows behind it did not come", async () => {
    place.expectStatus(500);
    await place.plant(MANY);
    const { page, signIn, button } = await place.visit();
    await page.route("**/plants?*after=*", (route) => route.fulfill({ status: 500 }));
    await signIn();
    await page.getByText("Plant 0", { exact: true }).waitFor();
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await button("Try again").waitFor();
    await page.evaluate("scrollTo(0, 0)");
    await page.getByText("Plant 0", { exact: true }).waitFor();
    await place.service.request("/plants/0", { method: "DELETE" });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button("Refresh").click();
    await page.getByText("Plant 0", { exact: true }).waitFor({ state: "detached" });
    await page.evaluate("scrollTo(0, 300 * document.querySelector('tbody tr').offsetHeight)");
    await page.locator('tr[data-at="300"]').waitFor();
  });

  it("shows what its dialog has met, though nothing is changed there", async () => {
    await place.plant(FEW);
    const { page, signIn, sees, field, button, dialog } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await change("Ginkgo biloba");
    await button("Edit Ginkgo").click();
    await until("the dialog has it", async () => (await field("Name").inputValue()) === "Ginkgo biloba");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await sees(["Acer", "Ginkgo biloba"]);
  });

  it("stays where it is when many deletions are undone", async () => {
    await place.plant(MANY);
    const { page, signIn, reads, button } = await place.visit();
    await signIn();
    await reads("3,000 plants.");
    const box = (name: string) => page.getByRole("checkbox", { name, exact: true });
    // All are loaded before any is selected.
    for (let rows = 0; rows < 2_900; rows = Number(await page.locator("table.plant-table tbody tr").last().getAttribute("data-at")))
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await page.evaluate("scrollTo(0, 0)");
    await box("Select Plant 0").click();
    await page.evaluate("scrollTo(0, 300 * document.querySelector('tbody tr').offsetHeight)");
    await box("Select Plant 299").click({ modifiers: ["Shift"] });
    await reads("300 plants selected");
    await page.clock.install();
    await button("Delete selected").click();
    await page.clock.fastForward(9_000);
    await reads("300 plants are deleted.");
    await page.evaluate("scrollTo(0, 2_000 * document.querySelector('tbody tr').offsetHeight)");
    await page.locator('tr[data-at="2005"]').waitFor();
    const before = await rowInSight(page);
    await button("Undo").click();
    await reads("300 plants are as before.");
    await page.locator('section[aria-busy="false"]').waitFor();
    await expectInSight(page, before);
  });

  it("follows what another tab changes", async () => {
    await place.plant(FEW);
    const { page, signIn, sees } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    const other = await page.context().newPage();
    await other.goto(place.service.url);
    await other.getByLabel("Token").fill(place.service.token);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.getByRole("button", { name: "Edit Ginkgo" }).click();
    await other.getByLabel("Name", { exact: true }).fill("Ginkgo biloba");
    await other.getByRole("button", { name: "Save", exact: true }).click();
    await sees(["Acer", "Ginkgo biloba"]);
  });
});

describe("the position in the list", () => {
  for (const again of [
    "a reload",
    "a phone has discarded it out of sight",
    "Back",
    "Back, and a look at another window before the rows are here",
    "reading it again",
  ]) {
    it(`is the same after ${again}`, async () => {
      await place.plant(MANY);
      const { page, signIn, rows, button, reads } = await place.visit();
      // A page that is discarded is told nothing of its end.
      if (again.includes("discarded"))
        await page.addInitScript("addEventListener('pagehide', (event) => event.stopImmediatePropagation())");
      await page.reload();
      await signIn();
      await rows.first().waitFor();
      for (let tries = 0; tries < 200 && !(await page.getByText("Plant 1200", { exact: true }).isVisible()); tries += 1) {
        await page.evaluate("scrollTo(0, 1200 * document.querySelector('tbody tr').offsetHeight)");
        await page.waitForTimeout(25);
      }
      const before = await rowInSight(page);
      expect(Number(before)).toBeGreaterThan(1_000);
      if (again.startsWith("a ")) {
        if (again !== "a reload") await showAgain(page);
        await page.reload();
        await page.getByText("Plant 1200", { exact: true }).waitFor();
      } else if (again.startsWith("Back")) {
        await button(/^even/).first().click();
        await reads(/found/);
        await page.waitForFunction("scrollY === 0");
        const late = Promise.withResolvers<void>();
        await page.route("**/plants?*", async (route) => {
          await late.promise;
          await route.continue().catch(() => {});
        });
        const [asked] = await Promise.all([page.waitForRequest(/\/plants\?/), page.goBack()]);
        if (again !== "Back") {
          const same = page.waitForRequest((request) => /\/plants\?/.test(request.url()) && request !== asked);
          await showAgain(page);
          await same;
        }
        late.resolve();
        await page.getByText("Plant 1201", { exact: true }).waitFor();
      } else {
        const response = page.waitForResponse(/\/plants\?.*after/);
        await button("Refresh").click();
        await response;
        await page.locator('section[aria-busy="false"]').waitFor();
      }
      await expectInSight(page, before);
    });
  }

  it("is the same after a reload, though the page said that the service does not respond, or the tags come after the rows", async () => {
    place.expectStatus(0);
    await place.plant(MANY);
    // Above the rows of a narrow window there is how many tags there are.
    const { page, signIn, rows, button } = await place.visit("/", { viewport: { width: 700, height: 800 } });
    await signIn();
    await button("Show 2").waitFor();
    await rows.first().waitFor();
    await page.evaluate("scrollTo(0, 40 * document.querySelector('tbody tr').offsetHeight)");
    await page.getByText("Plant 45", { exact: true }).waitFor();
    const before = await rowInSight(page);
    await page.route("**/*", (route) => route.abort());
    await showAgain(page);
    await page.getByText("The service does not respond.").waitFor();
    await settle(page);
    await expectInSight(page, before);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const tags = await hold(page, asks("GET", /^\/tags/));
    await page.reload();
    await tags.came;
    await page.getByText("Plant 45", { exact: true }).waitFor();
    await settle(page);
    await expectInSight(page, before);
    tags.release();
    await button("Show 2").waitFor({ state: "attached" });
    await settle(page);
    await expectInSight(page, before);
  });
});
