import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { asks, hold } from "../support/web/hold.ts";
import { usePlace } from "../support/web/place.ts";
import { settle } from "../support/web/settle.ts";

// What few people meet: responses that are lost while a dialog is left, a double click on a message, and long lists.

const place = usePlace({ reducedMotion: "no-preference" });

describe("an edit whose response was lost", () => {
  for (const { how, leave } of [
    { how: "its dialog is given up", leave: ["Cancel"] },
    { how: "what was typed is discarded, and the plant cannot be read", leave: ["Discard it", "Cancel"] },
    { how: "it may have replaced theirs, which is kept then", leave: ["Keep theirs"] },
  ])
    it(`can be undone when ${how}`, async () => {
      place.expectStatus(0, 412);
      await place.plant(rowsOf(3));
      const { page, signIn, button, enter, reads } = await place.visit();
      await signIn();
      await button("Edit Plant 2").click();
      await enter({ Name: "Mine" });
      if (leave[0] === "Discard it") {
        await page.reload();
        await reads("What you typed before is back.");
      }
      if (leave[0] === "Keep theirs") {
        await place.put(2, { name: "Theirs" });
        await button("Save").click();
        await reads("Someone changed this plant in the meantime.");
      }
      const before = await place.exported();
      let sent = 0;
      await page.route(/\/plants\/2$/, async (route) => {
        if ((sent += 1) === 1) await route.fetch();
        await route.abort();
      });
      await button(leave[0] === "Keep theirs" ? "Replace with yours" : "Save").click();
      await reads("The service cannot be reached");
      expect(await place.exported()).toContain("Mine");
      if (leave[0] === "Discard it") {
        await button("Discard it").click();
        await button("Try again").waitFor();
      }
      await page.unroute(/\/plants\/2$/);
      await button(leave.at(-1)!).click();
      await reads("Saving “Mine” may have failed.");
      await button("Undo").click();
      await reads("Restored “Mine”.");
      expect(await place.exported()).toBe(before);
    });
});

for (const label of ["Undo", "Close this message"]) {
  it(`messages are met one by one: a double click on “${label}” leaves the undo of the one that comes into its place`, async () => {
    await place.plant(rowsOf(7));
    const { page, signIn, button, box, setTag, reads } = await place.visit();
    await signIn();
    await page.clock.install();
    await button("Delete Plant 1").click();
    await button("Delete Plant 2").click();
    for (const at of [3, 4]) await box(`Plant ${at}`).click();
    await setTag("shrub");
    await reads("Set the tag of 2 plants to “shrub”.");
    await page.clock.fastForward(9_000);
    await reads("Deleted 2 plants.");
    const tagged = page.locator(".notice", { hasText: "Set the tag of 2 plants" });
    const deleted = page.locator(".notice", { hasText: "Deleted 2 plants" });
    const first = deleted.getByRole("button", { name: label });
    // It has come to rest then.
    await first.hover();
    const area = (await first.boundingBox())!;
    // Before it says what it did, in the same place.
    const undoing = await hold(page, asks("POST", /^\/plants\/changes$/));
    // A moment later it says what it does.
    await page.evaluate(`addEventListener("click", ({ detail, target }) => {
      if (detail === 2) globalThis.under = target.closest(".notice").innerText;
    }, true)`);
    await page.mouse.dblclick(area.x + area.width / 2, area.y + area.height / 2);
    await deleted.waitFor({ state: "detached" });
    expect(await page.evaluate<string>("under")).toContain("Set the tag of 2 plants");
    undoing.release();
    await tagged.getByRole("button", { name: "Undo" }).click();
    await reads("Restored 2 plants.");
  });
}

for (const width of [1280, 360]) {
  it(`messages cover no row of the table in a window of ${width} pixels`, async () => {
    await place.plant(rowsOf(60));
    const { page, signIn, button, rows } = await place.visit("/", { viewport: { width, height: 640 } });
    await signIn();
    await button("Delete Plant 1").click();
    await page.locator(".notice").waitFor();
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await page.getByText("Plant 60", { exact: true }).waitFor();
    const last = (await rows.last().boundingBox())!;
    const dock = (await page.locator(".notice-list").boundingBox())!;
    expect(last.y + last.height).toBeLessThanOrEqual(dock.y + 1);
    await button("Delete Plant 60").click();
    await page.getByText("2 plants will be deleted").first().waitFor();
  });
}
const MANY = Array.from({ length: 3_000 }, (_, at) => `${at},Plant ${at},${at % 2 === 0 ? "even" : "odd"}`);

/** The first row in the middle of the window. */
function rowInSight(page: Page): Promise<string> {
  return page.evaluate<string>("document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('tr').dataset.at");
}

/** As if another window came before the page, and went again. */
async function showAgain(page: Page): Promise<void> {
  for (const state of ["hidden", "visible"]) {
    await page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true })`);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  }
}

/**
 * The row in sight is the same, or next to it: a line above that comes while rows are drawn anew may move them by its height, because a
 * browser that draws other rows has none left to hold on to.
 */
async function expectInSight(page: Page, row: string): Promise<void> {
  expect(Math.abs(Number(await rowInSight(page)) - Number(row))).toBeLessThanOrEqual(1);
}

describe("the position in the list", () => {
  for (const again of [
    "a phone has discarded it out of sight",
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
        await showAgain(page);
        await page.reload();
        await page.getByText("Plant 1200", { exact: true }).waitFor();
      } else if (again.startsWith("Back")) {
        await button(/^even/).first().click();
        await reads(/found/);
        await until("it is so on the page", () => page.evaluate<boolean>("scrollY === 0"));
        const late = Promise.withResolvers<void>();
        await page.route("**/plants?*", async (route) => {
          await late.promise;
          await route.continue().catch(() => {});
        });
        const [asked] = await Promise.all([page.waitForRequest(/\/plants\?/), page.goBack()]);
        const same = page.waitForRequest((request) => /\/plants\?/.test(request.url()) && request !== asked);
        await showAgain(page);
        await same;
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

  it("is the same when many deletions are undone", async () => {
    await place.plant(MANY);
    const { page, signIn, reads, button, box } = await place.visit();
    await signIn();
    await reads("3,000 plants.");
    // All are loaded before any is selected.
    for (let rows = 0; rows < 2_900; rows = Number(await page.locator("table.plant-table tbody tr").last().getAttribute("data-at")))
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await page.evaluate("scrollTo(0, 0)");
    await box("Plant 0").click();
    await page.evaluate("scrollTo(0, 300 * document.querySelector('tbody tr').offsetHeight)");
    await box("Plant 299").click({ modifiers: ["Shift"] });
    await reads("300 plants selected");
    await page.clock.install();
    await button("Delete selected").click();
    await page.clock.fastForward(9_000);
    await reads("Deleted 300 plants.");
    await page.evaluate("scrollTo(0, 2_000 * document.querySelector('tbody tr').offsetHeight)");
    await page.locator('tr[data-at="2005"]').waitFor();
    const before = await rowInSight(page);
    await button("Undo").click();
    await reads("Restored 300 plants.");
    await page.locator('section[aria-busy="false"]').waitFor();
    await expectInSight(page, before);
  });
});

it("an import replaces no plant under a number that was free at the preview, though replacing was chosen before", async () => {
  const visit = await place.visit();
  await visit.signIn();
  await visit.button("Import a file").click();
  await visit.upload("liste.csv", "Pflanze\nRose\nTulpe\n");
  const replacing = visit.page.getByText("Replace plants that have the same id.");
  await replacing.click();
  await visit.field("New ids").selectOption("free");
  await visit.field("First id").waitFor();
  expect(await replacing.count()).toBe(0);
  await place.plant(["2,Somebody's,"]);
  await visit.button("Import 2 plants").click();
  await visit.reads("1 plant added, 1 refused.");
  expect(await (await place.service.request("/plants/2")).json()).toMatchObject({ name: "Somebody's" });
});

it("a file that cannot be read in the end does not take away the preview of the one that was dropped after it", async () => {
  const visit = await place.visit();
  const { page, signIn, button, reads, upload } = visit;
  await signIn();
  await button("Import a file").click();
  // A disk on a network, that goes away.
  await page.evaluate(`{
    const { arrayBuffer } = Blob.prototype;
    const { promise, reject } = Promise.withResolvers();
    Blob.prototype.arrayBuffer = () => {
      Blob.prototype.arrayBuffer = arrayBuffer;
      return promise;
    };
    globalThis.goAway = () => {
      reject(new DOMException("It is gone.", "NotReadableError"));
      return new Promise((resolve) => setTimeout(resolve));
    };
  }`);
  await upload("away.csv", "id,name\n2,Acer\n");
  await reads("Reading away.csv.");
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["id,name\\n1,Rosa\\n"], "here.csv"));
    document.querySelector("main").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }`);
  await reads("here.csv is CSV with 1 plant.");
  await page.evaluate("goAway()");
  await button("Import 1 plant").click();
  await reads("1 plant added.");
});

it("a token that was made after its dialog was closed is shown", async () => {
  const { page, signIn, button, field, choose, dialog } = await place.visit();
  await signIn();
  await choose("Tokens");
  await button("New token").click();
  await field("Name").fill("phone");
  await page.route("**/tokens", async (route) => {
    if (route.request().method() === "POST") await dialog.waitFor({ state: "detached" });
    await route.continue();
  });
  await button("Create token").click();
  await page.keyboard.press("Escape");
  expect(await field("The new token").inputValue()).toMatch(/^plant_/);
  await button("New token").click();
  expect(await field("Name").inputValue()).toBe("");
});

it("a token of which nobody knows whether it was made is told when its dialog is gone", async () => {
  place.expectStatus(0);
  const { page, signIn, button, field, reads, dialog, choose } = await place.visit();
  await signIn();
  await choose("Tokens");
  await button("New token").click();
  await field("Name").fill("phone");
  await page.route("**/tokens", async (route) => {
    await dialog.waitFor({ state: "detached" });
    await route.abort("connectionreset");
  });
  await button("Create token").click();
  await page.keyboard.press("Escape");
  await reads("The token “phone” may have been created: look at the list. The service cannot be reached");
});

it("a thousand tags are not said to be all that there are", async () => {
  const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `${from + at},Plant,Bed ${from + at}`);
  await place.plant(rows(0, 999));
  const { page, signIn, button, reads } = await place.visit();
  await signIn();
  await button("Show all 999").click();
  await place.plant(rows(999, 1001));
  await page.reload();
  await reads("1,001 plants.");
  await button("Show the first 1,000").click();
  expect(await page.locator(".tag-bars li").count()).toBe(1001);
});

it("tokens that are valid come first of 1,800, by the service's clock though the device's is two days ahead", async () => {
  const { tokens } = place.service.store;
  const old = Array.from({ length: 1800 }, (_, at) => `old ${at}`);
  const create = (name: string, at: number) =>
    tokens.create(
      { id: name, name, scopes: [], created: 1000 + at, ...(at % 2 === 0 ? { revoked: 2000 } : { expires: 2000 }) },
      `hash of ${name}`,
    );
  // More than that may not wait at once.
  for (let at = 0; at < old.length; at += 600) await Promise.all(old.slice(at, at + 600).map((name, behind) => create(name, at + behind)));
  await place.makeToken(["plants:read"], 1, "Anna");
  const { page, signIn, choose, dialog } = await place.visit();
  await page.clock.setSystemTime(Date.now() + 3 * 24 * 60 * 60 * 1000);
  await signIn();
  await choose("Tokens");
  await dialog.getByText(/^valid until/).waitFor();
  expect(await dialog.getByRole("rowheader").allInnerTexts()).toEqual(["first", "Anna", ...old]);
});
