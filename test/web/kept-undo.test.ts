import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";
import { until } from "../support/until.ts";
import { asksBeforeClosing } from "../support/web/closing.ts";

const place = usePlace();

const FIVE = Array.from({ length: 5 }, (_, at) => `${9007199254740993n + BigInt(at)},Plant ${at + 1},${at === 0 ? "" : "tree"}`);

async function stored(): Promise<string> {
  return (await place.service.request("/plants?limit=1000")).text();
}

async function openAll(rows = FIVE): Promise<Visit> {
  await place.plant(rows);
  const visit = await place.visit();
  await visit.signIn();
  await visit.page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
  return visit;
}

/** The service makes the next changes, and the page never hears of it. */
async function loseNext(page: Page): Promise<Readonly<{ made: Promise<void> }>> {
  const { promise: made, resolve } = Promise.withResolvers<void>();
  await page.route("**/plants/changes", (route) => route.fetch().then(() => resolve()), { times: 1 });
  return { made };
}

describe("an undo", () => {
  it("is still there after a reload, undoes exactly what was done, and is offered once", async () => {
    const { page, button, reads } = await openAll();
    const before = await stored();
    await button("Remove tag").click();
    await reads("4 plants are without a tag now.");
    await page.reload();
    await reads("4 plants are without a tag now.");
    await button("Undo").click();
    await reads("4 plants are as before.");
    expect(await stored()).toBe(before);
    await page.reload();
    await reads("5 plants.");
    expect(await button("Undo").count()).toBe(0);
  });

  it("is not offered again once its message was closed", async () => {
    const { page, button, reads } = await openAll();
    await button("Remove tag").click();
    await reads("4 plants are without a tag now.");
    await button("Close this message").click();
    await page.reload();
    await reads("5 plants.");
    expect(await button("Undo").count()).toBe(0);
  });

  it("stays when a single plant is deleted after it", async () => {
    const { page, button, reads } = await openAll();
    await button("Remove tag").click();
    await reads("4 plants are without a tag now.");
    await page.clock.install();
    await button("Delete Plant 1").click();
    await page.clock.fastForward(9_000);
    await page.getByText("will be deleted").first().waitFor({ state: "detached" });
    // A reload before the page has heard of the deletion would offer to undo that.
    const kept = () => page.evaluate<string>("Object.values(sessionStorage).join()");
    await until("the page has heard of it", async () => !(await kept()).includes("was cut off"));
    expect(await kept()).toContain("without a tag now");
    await page.reload();
    await button("Undo").click();
    await reads("4 plants are as before.");
    expect((await stored()).match(/"tree"/g)).toHaveLength(4);
  });

  it("stays when plants are deleted that were to be deleted before it, which have an undo beside it", async () => {
    const { page, button, field, reads } = await openAll();
    const before = await stored();
    await page.clock.install();
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await button("Delete Plant 1").click();
    await button("Delete Plant 2").click();
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await button("Set tag").click();
    await field("Tag").fill("shrub");
    await page.keyboard.press("Enter");
    await reads("3 plants are tagged “shrub” now.");
    await page.clock.fastForward(9_000);
    await reads("2 plants are deleted.");
    await page.reload();
    await reads("2 plants are deleted.");
    await page.locator(".notice", { hasText: "3 plants are tagged" }).getByRole("button", { name: "Undo" }).click();
    await reads("3 plants are as before.");
    await button("Undo").click();
    await reads("2 plants are as before.");
    expect(await stored()).toBe(before);
  });

  it("of what a reload has cut off is offered, and says that nothing is certain", async () => {
    const { page, button, reads } = await openAll();
    const before = await stored();
    const { made } = await loseNext(page);
    await button("Remove tag").click();
    await made;
    page.on("dialog", (question) => void question.accept());
    await page.reload();
    await reads("Changing the tag was cut off. It is not certain that 4 plants are without a tag now.");
    expect(await stored()).not.toContain("tree");
    await button("Undo").click();
    await reads("4 plants are as before.");
    expect(await stored()).toBe(before);
  });

  it("of what a reload has cut off is offered, also when something else has ended while it was under way", async () => {
    const { page, button, field, reads } = await openAll();
    const before = await stored();
    await page.clock.install();
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await button("Delete Plant 1").click();
    await button("Delete Plant 2").click();
    const { made } = await loseNext(page);
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    await button("Set tag").click();
    await field("Tag").fill("shrub");
    await page.keyboard.press("Enter");
    await made;
    await page.clock.fastForward(9_000);
    await reads("2 plants are deleted.");
    page.on("dialog", (question) => void question.accept());
    await page.reload();
    await reads("2 plants are deleted.");
    await reads("Changing the tag was cut off. It is not certain that 3 plants are tagged “shrub” now.");
    for (const text of ["Changing the tag was cut off", "2 plants are deleted"])
      await page.locator(".notice", { hasText: text }).getByRole("button", { name: "Undo" }).click();
    await until("all is as before", async () => (await stored()) === before);
  });

  it("of an edit whose response was lost is offered when its dialog is given up", async () => {
    place.expectStatus(0);
    const { page, button, field, reads } = await openAll();
    const before = await stored();
    await button("Edit Plant 2").click();
    await field("Name").fill("Lost");
    let sent = 0;
    await page.route("**/plants/*", async (route) => {
      if ((sent += 1) === 1) await route.fetch();
      await route.abort();
    });
    await button("Save").click();
    await reads("The service cannot be reached");
    await page.unroute("**/plants/*");
    expect(await stored()).toContain("Lost");
    await button("Cancel").click();
    await reads("It is not certain that “Lost” is saved.");
    await button("Undo").click();
    await reads("“Lost” is as before.");
    expect(await stored()).toBe(before);
  });

  it("of an edit whose response was lost is offered even if what was typed was discarded, and the plant cannot be read", async () => {
    place.expectStatus(0);
    const { page, button, field, reads } = await openAll();
    const before = await stored();
    await button("Edit Plant 2").click();
    await field("Name").fill("Lost");
    await page.reload();
    await reads("What you typed before is back.");
    let sent = 0;
    await page.route("**/plants/*", async (route) => {
      if ((sent += 1) === 1) await route.fetch();
      await route.abort();
    });
    await button("Save").click();
    await reads("The service cannot be reached");
    await button("Discard it").click();
    await button("Try again").waitFor();
    await page.unroute("**/plants/*");
    await button("Cancel").click();
    await reads("It is not certain that “Lost” is saved.");
    await button("Undo").click();
    await reads("“Lost” is as before.");
    expect(await stored()).toBe(before);
  });

  it("of an edit that may have replaced theirs is offered to those who then keep theirs", async () => {
    for (const status of [0, 412]) place.expectStatus(status);
    const { page, button, field, reads } = await openAll();
    await button("Edit Plant 2").click();
    await field("Name").fill("Mine");
    await place.service.request("/plants/9007199254740994", { method: "PUT", body: '{"name":"Theirs"}' });
    await button("Save").click();
    await reads("Someone changed this plant in the meantime.");
    const theirs = await stored();
    let sent = 0;
    await page.route("**/plants/*", async (route) => {
      if ((sent += 1) === 1) await route.fetch();
      await route.abort();
    });
    await button("Replace with yours").click();
    await reads("The service cannot be reached");
    await page.unroute("**/plants/*");
    expect(await stored()).toContain("Mine");
    await button("Keep theirs").click();
    await reads("It is not certain that “Mine” is saved.");
    await button("Undo").click();
    await reads("“Mine” is as before.");
    expect(await stored()).toBe(theirs);
  });

  it("that is too large for the browser to keep lets it ask before the tab is closed", async () => {
    const visit = await openAll(Array.from({ length: 20 }, (_, at) => `${at},${"n".repeat(60_000)} ${at},tree`));
    const { page, button, reads } = visit;
    await button("Remove tag").click();
    await reads("20 plants are without a tag now.");
    expect(await asksBeforeClosing(visit)).toBe(true);
    await button("Close this message").click();
    expect(await asksBeforeClosing(visit)).toBe(false);
    expect(page.isClosed()).toBe(true);
  });

  it("is for nobody after a sign-out, also from the sign-in that comes when the token ended", async () => {
    place.expectStatus(401);
    const { page, button, reads, field, dialog } = await openAll();
    await button("Remove tag").click();
    await reads("4 plants are without a tag now.");
    await page.route("**/plants?*", (route) =>
      route.fulfill({ status: 401, contentType: "application/json", body: '{"error":40101,"message":"It is invalid."}' }),
    );
    await button("Refresh").click();
    await dialog.getByRole("button", { name: "Sign out" }).click();
    await dialog.waitFor({ state: "detached" });
    await field("Token").waitFor();
    await reads("4 plants are without a tag now.");
    expect(await button("Undo").count()).toBe(0);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});

it("a deletion that waits while another tab signs out is not made, and the page says so", async () => {
  await place.plant(FIVE);
  const { page, button, field, reads } = await place.visit();
  await field("Token").fill(place.service.token);
  await page.getByLabel("Stay signed in on this device").check();
  await button("Sign in").click();
  await button("Settings").waitFor();
  const other = await page.context().newPage();
  await other.goto(place.service.url);
  await other.getByRole("button", { name: "Settings" }).click();
  await page.bringToFront();
  await button("Delete Plant 1").click();
  await other.getByRole("button", { name: "Sign out" }).click();
  await field("Token").waitFor();
  await reads("“Plant 1” is not deleted, because you signed out before.");
  expect(await stored()).toContain("Plant 1");
});

it("the page works where the browser keeps nothing for it, and offers no sign-in that stays", async () => {
  await place.plant(FIVE);
  const { page, signIn, button, field, reads, sees } = await place.visit("/livez");
  await page.addInitScript(`for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, { get() { throw new DOMException("Access is denied.", "SecurityError"); } });`);
  await page.goto(place.service.url);
  await field("Token").waitFor();
  expect(await page.getByLabel("Stay signed in on this device").count()).toBe(0);
  await signIn();
  await button("Add plant").click();
  await field("Name").fill("Quercus");
  await page.keyboard.press("Escape");
  await button("Add plant").click();
  expect(await field("Name").inputValue()).toBe("Quercus");
  await button("Cancel").click();
  await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
  await button("Remove tag").click();
  await reads("4 plants are without a tag now.");
  await button("Undo").click();
  await reads("4 plants are as before.");
  await sees(["Plant 1", "Plant 2", "Plant 3", "Plant 4", "Plant 5"]);
});

it("the page works where the browser has no room for what it keeps: with a sign-in, a renaming, and what is typed", async () => {
  await place.plant(FIVE);
  const { page, signIn, button, field, reads } = await place.visit("/livez");
  await page.addInitScript("Storage.prototype.setItem = () => { throw new DOMException('It is full.', 'QuotaExceededError'); }");
  await page.goto(place.service.url);
  await signIn();
  await button(/^tree/).first().click();
  await button("Rename this tag…").click();
  await field("Tag").fill("herb");
  await page.keyboard.press("Escape");
  await button("Rename this tag…").click();
  expect(await field("Tag").inputValue()).toBe("herb");
  await button("Rename everywhere").click();
  await reads("4 plants are tagged “herb” now.");
  await button("Undo").click();
  await reads("4 plants are as before.");
});
