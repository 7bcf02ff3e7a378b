import { describe, expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

// What few people meet: responses that are lost while a dialog is left, a double click on a message, and long lists.

const place = usePlace({ reducedMotion: "no-preference" });

describe("an edit whose response was lost can be undone when", () => {
  type Leave = (visit: Visit, restore: () => Promise<void>) => Promise<void>;
  const cancel: Leave = async ({ click }, restore) => (await restore(), await click("Cancel"));
  for (const { how, before, save = "Save", leave } of [
    { how: "its dialog is given up", leave: cancel },
    {
      how: "what was typed is discarded, and the plant cannot be read",
      before: async ({ page, reads }: Visit) => (await page.reload(), await reads("What you typed before is back.")),
      async leave(visit: Visit, restore: () => Promise<void>) {
        await visit.steps("click Discard it > offers Try again");
        await cancel(visit, restore);
      },
    },
    {
      how: "it may have replaced theirs, which is kept then",
      async before({ steps }: Visit) {
        await place.put(2, { name: "Theirs" });
        await steps("click Save > reads Someone changed this plant in the meantime.");
      },
      save: "Replace with yours",
      leave: async ({ click }: Visit, restore: () => Promise<void>) => (await restore(), await click("Keep theirs")),
    },
  ])
    it(how, async () => {
      place.expectStatus(0, 412);
      const visit = await place.open(rowsOf(3));
      const { page, click, reads, steps } = visit;
      await steps("click Edit Plant 2 > enter Name = Mine");
      await before?.(visit);
      const stored = await place.exported();
      let sent = 0;
      await page.route(/\/plants\/2$/, async (route) => {
        if ((sent += 1) === 1) await route.fetch();
        await route.abort();
      });
      await click(save);
      await reads("The service cannot be reached");
      expect(await place.exported()).toContain("Mine");
      await leave(visit, () => page.unroute(/\/plants\/2$/));
      await steps("reads Saving “Mine” may have failed. > click Undo > reads Restored “Mine”.");
      expect(await place.exported()).toBe(stored);
    });
});

for (const label of ["Undo", "Close this message"])
  it(`messages are met one by one: a double click on “${label}” leaves the undo of the one that comes into its place`, async () => {
    const { page, click, box, reads, passUndo, hold, steps } = await place.open(rowsOf(7));
    await page.clock.install();
    await click("Delete Plant 1", "Delete Plant 2");
    for (const at of [3, 4]) await box(`Plant ${at}`).click();
    await steps("tag shrub > reads Set the tag of 2 plants to “shrub”.");
    await passUndo();
    await reads("Deleted 2 plants.");
    const deleted = page.locator(".notice", { hasText: "Deleted 2 plants" });
    const button = deleted.getByRole("button", { name: label });
    // It has come to rest then.
    await button.hover();
    const area = (await button.boundingBox())!;
    // Before it says what it did, in the same place.
    const undoing = await hold("POST", /^\/plants\/changes$/);
    // A moment later it says what it does.
    await page.evaluate(`addEventListener("click", ({ detail, target }) => {
      if (detail === 2) globalThis.under = target.closest(".notice")?.innerText;
    }, true)`);
    await page.mouse.dblclick(area.x + area.width / 2, area.y + area.height / 2);
    await deleted.waitFor({ state: "detached" });
    expect(await page.evaluate<string>("under")).toContain("Set the tag of 2 plants");
    undoing.release();
    await page.locator(".notice", { hasText: "Set the tag" }).getByRole("button", { name: "Undo" }).click();
    await reads("Restored 2 plants.");
  });

for (const width of [1280, 360])
  it(`messages cover no row of the table in a window of ${width} pixels`, async () => {
    const { page, click, rows, steps } = await place.open(rowsOf(60), { viewport: { width, height: 640 } });
    await click("Delete Plant 1");
    await page.locator(".notice").waitFor();
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await page.getByText("Plant 60", { exact: true }).waitFor();
    const last = (await rows.last().boundingBox())!;
    const dock = (await page.locator(".notice-list").boundingBox())!;
    expect(last.y + last.height).toBeLessThanOrEqual(dock.y + 1);
    await steps("click Delete Plant 60 > reads 2 plants will be deleted");
  });

describe("the position in the list", () => {
  const MANY = rowsOf(3_000, (id) => (id % 2 === 0 ? "even" : "odd"));
  const scrollTo = (row: number) => `scrollTo(0, ${row} * document.querySelector("tbody tr").offsetHeight)`;

  /** The first row in the middle of the window. */
  const rowInSight = ({ page }: Visit) =>
    page.evaluate<number>("Number(document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('tr').dataset.at)");

  /** Waits until a row is in sight far down, and returns which. */
  async function goDown(visit: Visit, row: number): Promise<number> {
    await until("a far row is in sight", async () => {
      await visit.page.evaluate(scrollTo(row));
      return visit.page.locator(`tr[data-at="${row + 5}"]`).isVisible();
    });
    return rowInSight(visit);
  }

  /**
   * The row in sight is the same, or next to it: a line above that comes while rows are drawn again may move them by its height, because a
   * browser that draws other rows has none left to hold on to.
   */
  async function expectInSight(visit: Visit, row: number): Promise<void> {
    expect(Math.abs((await rowInSight(visit)) - row)).toBeLessThanOrEqual(1);
  }

  it("is the same after a phone has discarded it out of sight", async () => {
    const visit = await place.open(MANY);
    const { page, rows, showAgain, steps } = visit;
    // A page that is discarded is told nothing of its end.
    await page.addInitScript("addEventListener('pagehide', (event) => event.stopImmediatePropagation())");
    await page.reload();
    await rows.first().waitFor();
    const before = await goDown(visit, 1_200);
    await showAgain();
    await steps("reload > reads Plant 1206");
    await expectInSight(visit, before);
  });

  it("is the same after Back, and a look at another window before the rows are here", async () => {
    const visit = await place.open(MANY);
    const { page, click, reads, showAgain } = visit;
    const before = await goDown(visit, 1_200);
    await click(/^even/);
    await reads(/found/);
    await until("it is so on the page", () => page.evaluate<boolean>("scrollY === 0"));
    const late = Promise.withResolvers<void>();
    await page.route("**/plants?*", (route) => late.promise.then(() => route.continue().catch(() => {})));
    const [asked] = await Promise.all([page.waitForRequest(/\/plants\?/), page.goBack()]);
    const same = page.waitForRequest((request) => /\/plants\?/.test(request.url()) && request !== asked);
    await showAgain();
    await same;
    late.resolve();
    await reads("Plant 1206");
    await expectInSight(visit, before);
  });

  it("is the same after a reload, though the page said that the service does not respond, or the tags come after the rows", async () => {
    place.expectStatus(0);
    // Above the rows of a narrow window there is how many tags there are.
    const visit = await place.open(MANY, { viewport: { width: 700, height: 800 } });
    const { page, button, reads, settle, showAgain, fail, hold } = visit;
    await button("Show 2").waitFor();
    const before = await goDown(visit, 40);
    const restore = await fail("**/*");
    await showAgain();
    await reads("The service does not respond.");
    await settle();
    await expectInSight(visit, before);
    await restore();
    const tags = await hold("GET", /^\/tags/);
    await page.reload();
    await tags.came;
    await reads("Plant 46");
    await settle();
    await expectInSight(visit, before);
    tags.release();
    await button("Show 2").waitFor({ state: "attached" });
    await settle();
    await expectInSight(visit, before);
  });

  it("is the same when many deletions are undone", async () => {
    const visit = await place.open(MANY);
    const { page, reads, click, box, passUndo, steps } = visit;
    // All are loaded before any is selected.
    await goDown(visit, 2_980);
    await page.evaluate("scrollTo(0, 0)");
    await box("Plant 1").click();
    await page.evaluate(scrollTo(300));
    await box("Plant 300").click({ modifiers: ["Shift"] });
    await reads("300 plants selected");
    await page.clock.install();
    await click("Delete selected");
    await passUndo();
    await reads("Deleted 300 plants.");
    const before = await goDown(visit, 2_000);
    await steps("click Undo > reads Restored 300 plants.");
    await page.locator('section[aria-busy="false"]').waitFor();
    await expectInSight(visit, before);
  });
});

it("an import replaces no plant under a number that was free at the preview, though replacing was chosen before", async () => {
  const { page, openImport, upload, click, field, steps } = await place.open();
  await openImport();
  await upload("liste.csv", "Pflanze\nRose\nTulpe\n");
  const replacing = page.getByText("Replace plants that have the same id.");
  await replacing.click();
  await click("Change");
  await field("New ids").selectOption("free");
  await field("First id").waitFor();
  expect(await replacing.count()).toBe(0);
  await place.plant(["2,Someone's,"]);
  await steps("click Import 2 plants > reads 1 plant added, 1 refused.");
  expect(await (await place.service.request("/plants/2")).json()).toMatchObject({ name: "Someone's" });
});

it("a file that cannot be read in the end does not take away the preview of the one that was dropped after it", async () => {
  const { page, openImport, upload, drop, reads, steps } = await place.open();
  await openImport();
  // A disk on a network, that goes away.
  await page.evaluate(`{
    const { stream } = Blob.prototype;
    const { promise, reject } = Promise.withResolvers();
    Blob.prototype.stream = () => {
      Blob.prototype.stream = stream;
      return new ReadableStream({ pull: () => promise });
    };
    globalThis.goAway = () => {
      reject(new DOMException("It is gone.", "NotReadableError"));
      return new Promise((resolve) => setTimeout(resolve));
    };
  }`);
  await upload("away.csv", "id,name\n2,Acer\n");
  await reads("Reading away.csv.");
  await drop("here.csv", "id,name\n1,Rosa\n");
  await reads("here.csv is CSV with 1 plant.");
  await page.evaluate("goAway()");
  await steps("click Import 1 plant > reads 1 plant added.");
});

it("a thousand tags are not said to be all that there are, the most frequent come first from A to Z, and a filter finds any", async () => {
  const { page, click, enter, sees, steps } = await place.open(rowsOf(999, (id) => `Bed ${id}`));
  await click("Show all 999");
  await place.plant(["1000,Plant,Bed 1000", "1001,Plant,Bed 1001"]);
  await steps("reload > reads 1,001 plants. > click Show the first 1,000");
  expect(await page.locator(".tag-bars li").count()).toBe(1001);
  await enter({ "Filter tags": "BED 77" });
  const bars = page.locator(".tag-bars-label");
  expect(await bars.allInnerTexts()).toEqual(["Bed 77", ...Array.from({ length: 10 }, (_, at) => `Bed 77${at}`)]);
  await steps("filter Bed 770 > reads 1 plant found. > enter Filter tags = no bed > reads No tags match.");
  await steps("filter Remove the filter Bed 770 > enter Filter tags = ");
  for (const id of [998, 999]) await place.put(id, { name: `Plant ${id}`, tag: "Bed 5" });
  await steps("reload > reads 1,001 plants. > filter Bed 5");
  await sees(["Plant 5", "Plant 998", "Plant 999"]);
});

it("tokens that are valid come first of 1,800, by the service's clock though the device's is three days ahead", async () => {
  const old = Array.from({ length: 1800 }, (_, at) => `old ${at}`);
  for (const [at, name] of old.entries()) {
    const end = at % 2 === 0 ? { revoked: 2000 } : { expires: 2000 };
    await place.service.store.tokens.create({ id: name, name, scopes: [], created: 1000 + at, ...end }, `hash of ${name}`);
  }
  await place.makeToken(["plants:read"], 1, "Anna");
  const { page, signIn, choose, dialog } = await place.visit();
  await page.clock.setSystemTime(Date.now() + 3 * 24 * 60 * 60 * 1000);
  await signIn();
  await choose("Tokens");
  await dialog.getByText(/^valid until/).waitFor();
  expect(await dialog.getByRole("rowheader").allInnerTexts()).toEqual(["first", "Anna", ...old]);
});
