import { describe, expect, it } from "bun:test";
import type { BrowserContextOptions, Request } from "playwright-core";
import { isWithin, sleepPatiently } from "../support/patient-clock.ts";
import { until } from "../support/until.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";
import { asks } from "../support/web/visit.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

const PLANTS = ["1,Acer,tree", "3,Ginkgo,tree"];
const STREAM = asks("GET", /^\/plants\/changes\?/);
const LIST = asks("GET", /^\/plants\?/);

type Opening = BrowserContextOptions & Readonly<{ rows?: readonly string[]; path?: string }>;

/** Opens the page, and waits until it hears of what changes. */
async function openLive({ rows = PLANTS, path, ...options }: Opening = {}): Promise<Visit> {
  if (rows.length > 0) await place.plant(rows);
  const visit = await place.visit(path, options);
  await visit.hears(visit.signIn);
  if (rows.length > 0) await visit.rows.first().waitFor();
  return visit;
}

/** How many requests of this kind there are from now on. */
function count({ page }: Visit, isMeant: (request: Request) => boolean): () => number {
  let requests = 0;
  page.on("request", (request) => void (isMeant(request) && (requests += 1)));
  return () => requests;
}

/** Where the row of a plant is in the window. */
async function placeOf({ rows }: Visit, name: string): Promise<number> {
  return (await rows.filter({ hasText: name }).boundingBox())!.y;
}

describe("what someone changes in one browser", () => {
  it("is in another one within a second: in its row, among the tags, and in the number of plants", async () => {
    const one = await place.open(PLANTS);
    const other = await openLive({ rows: [] });
    await other.sees(["Acer", "Ginkgo"]);
    await one.steps("click Edit Acer > enter Name = Maple > click Save > leaves");
    expect(await isWithin(1_000, async () => (await other.rows.first().innerText()).includes("Maple"))).toBe(true);
    await one.steps("click Add plant > enter Name = Zinnia > enter Tag = herb > click Save > leaves");
    expect(await isWithin(1_000, () => other.button("1 new plant").isVisible())).toBe(true);
    await other.steps("reads 3 plants. > filter herb > sees Zinnia");
    // The one who made the changes hears nothing new.
    await one.sees(["Maple", "Ginkgo", "Zinnia"]);
    expect(await one.page.locator(".news-button").count()).toBe(0);
  });

  it("moves no row of another one: what appears and goes is offered, and shown with the keyboard alone", async () => {
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 800 },
    ]) {
      const visit = await openLive({ viewport, rows: viewport.width === 390 ? [] : PLANTS });
      const { page, sees, button, focused, rows } = visit;
      await sees(["Acer", "Ginkgo"]);
      const before = await placeOf(visit, "Ginkgo");
      await place.put(2, { name: "Dahlia" });
      await button("1 new plant").waitFor();
      await place.remove(1);
      await button("1 new plant, 1 plant gone").waitFor();
      expect(await placeOf(visit, "Ginkgo")).toBe(before);
      await sees(["Acer", "Ginkgo"]);
      expect(await rows.first().getByRole("link").getAttribute("aria-label")).toBe("Acer, deleted");
      await page.getByRole("status").filter({ hasText: "1 new plant, 1 plant gone" }).waitFor({ state: "attached" });
      await page.keyboard.press("/");
      for (let stops = 0; stops < 9 && !(await focused()).includes("Show the list"); stops += 1) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await sees(["Dahlia", "Ginkgo"]);
      expect([await focused(), await page.locator(".news-button").count()]).toEqual(["SECTION#plants", 0]);
      await place.remove(2);
      await place.put(1, { name: "Acer", tag: "tree" });
      await page.close();
    }
  });

  it("moves no row either when it came before the page could hear of it", async () => {
    const visit = await place.visit();
    const held = await visit.hold("GET", /^\/plants\/changes\?/);
    await place.plant(PLANTS);
    await visit.signIn();
    await visit.sees(["Acer", "Ginkgo"]);
    await held.came;
    await place.remove(1);
    await place.put(2, { name: "Dahlia" });
    await place.put(3, { name: "Maidenhair", tag: "tree" });
    held.release();
    await visit.steps("sees Acer, Maidenhair > click 1 new plant, 1 plant gone > sees Dahlia, Maidenhair");
  });

  it("moves no row of a page that could not reach the service for a while", async () => {
    place.expectStatus(0);
    const { page, steps } = await openLive();
    await page.context().setOffline(true);
    await steps("reads You are offline.");
    await place.remove(1);
    await place.put(2, { name: "Dahlia" });
    await page.context().setOffline(false);
    await steps("reads 1 new plant, 1 plant gone");
    await sleepPatiently(1_000);
    await steps("sees Acer, Ginkgo");
  });

  it("comes to an empty catalogue at once", async () => {
    const { reads, sees } = await openLive({ rows: [] });
    await reads("Nothing grows here yet");
    await place.put(1, { name: "Acer" });
    await sees(["Acer"]);
  });

  it("is said in an open plant, with what it became, and what is typed stays", async () => {
    place.expectStatus(404, 412);
    const { steps, dialog, typed } = await openLive();
    await steps("click Edit Acer > has Name");
    await place.put(1, { name: "Maple", tag: "tree" });
    await steps("reads This plant was changed just now: you see what it is. > holds Name = Maple > enter Tag = shrub");
    await place.put(1, { name: "Acer rubrum", tag: "tree" });
    await steps("reads This plant was changed just now. What you typed is kept. Stored is now: > holds Tag = shrub");
    expect(await dialog.locator(".plants-differs").innerText()).toBe("Acer rubrum");
    await steps("click Save > reads Yours or theirs?");
    await place.put(1, { name: "Acer saccharum", tag: "tree" });
    await dialog.getByText("Acer saccharum").waitFor();
    await steps("click Replace with yours > leaves");
    expect(await place.stored("tag=shrub")).toEqual([{ id: 1, name: "Maple", tag: "shrub" }]);
    await steps("click Edit Ginkgo > enter Name = Maidenhair");
    await place.remove(3);
    await steps("reads This plant was deleted just now. What you typed is kept. > click Save > click Save yours as new > leaves");
    expect(await typed("Search names")).toBe("");
    expect(await place.stored("q=maidenhair")).toEqual([{ id: 3, name: "Maidenhair", tag: "tree" }]);
  });

  it("is an import of twenty thousand plants: no row moves, and the list is asked for when people want it", async () => {
    const visit = await openLive({ rows: rowsOf(300, () => "tree") });
    const { reads, click, rows } = visit;
    await reads("300 plants.");
    const before = await placeOf(visit, "Plant 5");
    const lists = count(visit, LIST);
    const body = Array.from({ length: 20_000 }, (_, at) => `{"id":${-1 - at},"name":"Oak ${at}"}\n`).join("");
    expect((await place.service.request("/plants/import", { method: "POST", body })).status).toBe(200);
    await reads("20,300 plants");
    expect(await placeOf(visit, "Plant 5")).toBe(before);
    expect(lists()).toBe(0);
    await click("Many plants have changed");
    await rows.filter({ hasText: "Oak 19999" }).waitFor();
  });
});

describe("a browser", () => {
  it("hears of changes in one tab alone, and goes on in another one when that is closed or out of sight", async () => {
    const first = await openLive();
    const second = await first.openTab();
    const streams = count(second, STREAM);
    await second.signIn();
    await second.sees(["Acer", "Ginkgo"]);
    await place.put(1, { name: "Maple", tag: "tree" });
    for (const tab of [first, second]) await tab.sees(["Maple", "Ginkgo"]);
    expect(streams()).toBe(0);
    await first.page.evaluate(HIDE);
    await until("the other tab asks", () => streams() === 1);
    await place.put(1, { name: "Acer rubrum", tag: "tree" });
    await second.sees(["Acer rubrum", "Ginkgo"]);
  });

  it("asks every 15 seconds where it has no locks", async () => {
    await place.plant(PLANTS);
    const visit = await place.visit();
    const { page, signIn, sees } = visit;
    await page.addInitScript("delete Navigator.prototype.locks");
    await page.clock.install();
    await page.reload();
    const streams = count(visit, STREAM);
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await until("it has asked", () => streams() === 1);
    await sleepPatiently(2_000);
    await place.put(1, { name: "Maple", tag: "tree" });
    await page.clock.fastForward(15_000);
    await sees(["Maple", "Ginkgo"]);
  });

  it("says nothing where the service keeps no changes, or has too many that follow them", async () => {
    place.expectStatus(501, 503);
    for (const status of [501, 503]) {
      await place.put(1, { name: "Acer" });
      const visit = await place.visit();
      const { page, signIn, sees, fail, showAgain } = visit;
      await fail(/\/plants\/changes/, status);
      const streams = count(visit, STREAM);
      await signIn();
      await sees(["Acer"]);
      await until("it has asked", () => streams() > 0);
      await place.put(1, { name: "Maple" });
      await showAgain();
      await sees(["Maple"]);
      expect([await page.locator(".notice").count(), await page.getByRole("alert").count()]).toEqual([0, 0]);
    }
  });
});

const HIDE = `Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));`;
