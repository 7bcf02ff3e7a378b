import { describe, expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { usePlace } from "../support/web/place.ts";
import { asks } from "../support/web/visit.ts";
import type { Visit } from "../support/web/visit.ts";

// What dialogs and the page as a whole do while something is on its way; what is decided without them is in
// bulk-edits.test.ts and list.test.ts.

const place = usePlace();

const ACER = ["7,Acer,tree"];
const UNREACHED = "The service cannot be reached: check the connection, then try again.";

/** Responses to these requests are lost once the service has made them, until it is undone. */
async function lose({ page }: Visit, url: RegExp | string): Promise<() => Promise<void>> {
  await page.route(url, async (route) => {
    await route.fetch();
    // The page may want it no more.
    await route.abort().catch(() => undefined);
  });
  return () => page.unroute(url);
}

async function tellOfChange({ page }: Visit, other: Visit): Promise<void> {
  const name = JSON.stringify(`plant-store ${place.service.url}`);
  // It listens before anything is said.
  await page.evaluate(
    `new BroadcastChannel(${name}).addEventListener("message", () => (document.documentElement.dataset.heard = ""), { once: true })`,
  );
  await other.page.evaluate(`new BroadcastChannel(${name}).postMessage("changed")`);
  await page.locator("html[data-heard]").waitFor({ state: "attached" });
  await page.evaluate("delete document.documentElement.dataset.heard");
  await page.clock.runFor(1_000);
}

describe("on a slow connection", () => {
  it("a sign-out waits for a deletion for some seconds only", async () => {
    const { page, field, hold, steps } = await place.open(ACER);
    const deletion = await hold("POST", /^\/plants\/changes$/);
    await page.clock.install();
    await page.clock.pauseAt((await page.evaluate<number>("Date.now()")) + 1_000);
    await steps("click Delete Acer > choose Sign out");
    await deletion.came;
    await page.clock.fastForward(5_000);
    await field("Token").waitFor();
    deletion.release();
    await until("it is deleted", async () => (await place.stored()).length === 0);
  });

  it("a reload shows where the plants will be before it is known who is signed in, and a sign-out in another tab holds in it", async () => {
    const { page, field, openTab, signIn, hold, settle } = await place.visit();
    await page.getByLabel("Stay signed in on this device").check();
    await signIn();
    const other = await openTab();
    await other.button("Account").waitFor();
    const session = await hold("GET", /^\/session$/);
    await page.reload();
    await session.came;
    await page.locator(".skeleton").waitFor();
    expect((await page.locator(".skeleton").boundingBox())!.height).toBeGreaterThan(100);
    await other.choose("Sign out");
    await field("Token").waitFor();
    const answered = page.waitForResponse(/session$/);
    session.release();
    await answered;
    await settle();
    expect(await field("Token").count()).toBe(1);
    expect(await page.evaluate<number>("sessionStorage.length + localStorage.length")).toBe(0);
  });

  it("no one can go on with a plant as it was while what was typed is discarded", async () => {
    const { click, field, hold, steps } = await place.open(ACER);
    await steps("click Edit Acer > enter Name = Acer rubrum > press Escape");
    await place.put(7, { name: "Acer", tag: "theirs" });
    await click("Edit Acer");
    const read = await hold("GET", /^\/plants\/7$/);
    await click("Discard it");
    await read.came;
    expect(await field("Name").count()).toBe(0);
    read.release();
    await steps("enter Name = Acer palmatum > click Save > leaves");
    expect(await place.stored()).toEqual([{ id: 7, name: "Acer palmatum", tag: "theirs" }]);
  });

  it("a list that is read again is not given up when another tab changes something once more, and is read again after it", async () => {
    // Where the page does not hear of changes by itself.
    place.expectStatus(501);
    await place.plant(ACER);
    const visit = await place.visit();
    const { page, signIn, sees, openTab, hold, fail } = visit;
    await fail(/\/plants\/changes\?/, 501);
    await signIn();
    await sees(["Acer"]);
    await page.clock.install();
    const other = await openTab("/livez");
    await place.put(8, { name: "Salix" });
    const list = await hold("GET", /^\/plants\?/, "answer");
    let lists = 0;
    page.on("request", (request) => void (asks("GET", /^\/plants\?/)(request) && (lists += 1)));
    await tellOfChange(visit, other);
    await list.came;
    await place.put(9, { name: "Ulmus" });
    await tellOfChange(visit, other);
    expect(lists).toBe(1);
    list.release();
    await sees(["Acer", "Salix"]);
    await page.clock.runFor(1_000);
    await sees(["Acer", "Salix", "Ulmus"]);
  });

  it("a service that is silent is said not to respond, and what did not come comes when it is back", async () => {
    place.expectStatus(0);
    const { page, sees, enter, rows } = await place.open(ACER);
    await page.clock.install();
    await page.route("**/*", () => undefined);
    await enter({ "Search names": "acer" });
    const isTold = () => page.getByText("The service does not respond.").isVisible();
    await until("it is told", async () => {
      await page.clock.runFor(5_000);
      return isTold();
    });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await until("it is back", async () => {
      await page.clock.runFor(5_000);
      // What is tried once more may come after the sentence has gone.
      return !(await isTold()) && (await rows.count()) === 1;
    });
    await sees(["Acer"]);
  });

  it("tokens are listed as they are, though the response to an earlier question comes last", async () => {
    for (const name of ["one", "two"]) await place.makeToken(["plants:read"], 30, name);
    const { page, choose, click, dialog, button, hold, settle } = await place.open();
    await choose("Tokens");
    async function revoke(name: string): Promise<void> {
      await click(`Revoke ${name}`);
      // A second click at once counts as a double click.
      await button(`Revoke for good? ${name}`).press("Enter");
    }
    await button("Revoke two").waitFor();
    const earlier = await hold("GET", /^\/tokens/, "answer");
    await revoke("one");
    await earlier.came;
    await revoke("two");
    const revoked = dialog.getByText(/^revoked /);
    await revoked.nth(1).waitFor();
    const answered = page.waitForResponse((response) => asks("GET", /^\/tokens/)(response.request()));
    earlier.release();
    await answered;
    await settle();
    expect(await revoked.count()).toBe(2);
  });

  it("a token whose response is lost is in the list, or is told when its dialog is gone; one that is made after that is shown", async () => {
    place.expectStatus(0);
    const visit = await place.open();
    const { click, enter, typed, reads, dialog, fail, hold, steps } = visit;
    await steps("choose Tokens > click New token > enter Name = robot");
    const restore = await lose(visit, "**/tokens");
    await click("Create token");
    await reads(UNREACHED);
    await restore();
    await click("Back");
    await dialog.getByRole("rowheader", { name: "robot" }).waitFor();
    expect(await dialog.getByRole("alert").count()).toBe(0);
    await click("New token");
    for (const isLost of [true, false]) {
      await enter({ Name: "phone" });
      const restored = isLost ? await fail("**/tokens") : undefined;
      const making = await hold("POST", /^\/tokens$/);
      await steps("click Create token > press Escape > leaves");
      making.release();
      if (!isLost) break;
      await reads("The token “phone” may have been created: look at the list. The service cannot be reached");
      await restored?.();
      await steps("choose Tokens > click New token");
    }
    expect(await typed("The new token")).toMatch(/^plant_/);
    await steps("click New token > empty Name");
  });

  it("what is being saved cannot be typed on, and is kept as it says if it is cancelled and fails", async () => {
    place.expectStatus(0);
    const { page, reads, fail, hold, steps } = await place.open(ACER);
    await steps("click Edit Acer > enter Name = Quercus");
    const restore = await fail(/\/plants\/7$/);
    const saving = await hold("PUT", /^\/plants/);
    await page.keyboard.press("Enter");
    await saving.came;
    await steps("offers Saving… > type  rubra > holds Name = Quercus > click Cancel");
    saving.release();
    await reads("Saving “Quercus” failed, and what you typed is kept.");
    await restore();
    await steps("click Edit Acer > holds Name = Quercus");
  });

  it("a plant is stored once, though responses were lost, the page was loaded again, and its name was corrected twice", async () => {
    place.expectStatus(0);
    const visit = await place.open();
    const { page, click, enter, reads, steps } = visit;
    await steps("click Add a plant > enter Name = Ginko");
    const created = Promise.withResolvers<unknown>();
    await page.route("**/plants", (route) => void route.fetch().then(created.resolve));
    await click("Save");
    await created.promise;
    // While it is still being saved.
    await page.reload();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await enter({ Name: "Ginkgo" });
    const restore = await lose(visit, "**/plants/changes");
    await click("Save");
    await reads(UNREACHED);
    await restore();
    await steps("enter Name = Ginkgo biloba > click Save > leaves");
    expect((await place.stored()).map(({ name }) => name)).toEqual(["Ginkgo biloba"]);
  });
});
