import { describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { asks, hold } from "../support/web/hold.ts";
import { usePlace } from "../support/web/place.ts";
import { settle } from "../support/web/settle.ts";

// What dialogs and the page as a whole do while something is on its way; what is decided without them is in changes.test.ts
// and list.test.ts.

const place = usePlace();

const CHANGES = asks("POST", /^\/plants\/changes$/);
const CREATE = asks("POST", /^\/plants$/);
const LIST = asks("GET", /^\/plants\?/);

async function tellOfChange(page: Page, other: Page): Promise<void> {
  const name = JSON.stringify(`plant-store ${place.service.url}`);
  // It listens before anything is said.
  await page.evaluate(
    `new BroadcastChannel(${name}).addEventListener("message", () => (document.documentElement.dataset.heard = ""), { once: true })`,
  );
  await other.evaluate(`new BroadcastChannel(${name}).postMessage("changed")`);
  await page.locator("html[data-heard]").waitFor({ state: "attached" });
  await page.evaluate("delete document.documentElement.dataset.heard");
  await page.clock.runFor(1_000);
}

describe("on a slow connection", () => {
  it("a sign-out waits for a deletion for some seconds only", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, button, field, sees, choose } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    const deletion = await hold(page, CHANGES);
    await page.clock.install();
    await page.clock.pauseAt((await page.evaluate<number>("Date.now()")) + 1_000);
    await button("Delete Acer").click();
    await choose("Sign out");
    await deletion.came;
    await page.clock.fastForward(5_000);
    await field("Token").waitFor();
    deletion.release();
    await until("it is deleted", async () => (await place.stored()).length === 0);
  });

  it("a sign-out in another tab holds in one that is just coming", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, button, field, sees } = await place.visit();
    await field("Token").fill(place.service.token);
    await page.getByLabel("Stay signed in on this device").check();
    await button("Sign in").click();
    await sees(["Acer"]);
    const other = await page.context().newPage();
    await other.goto(place.service.url);
    await other.getByRole("button", { name: "Settings" }).click();
    const session = await hold(page, asks("GET", /^\/session$/));
    await page.reload();
    await session.came;
    await other.getByRole("button", { name: "Sign out" }).click();
    await field("Token").waitFor();
    const answered = page.waitForResponse(/session$/);
    session.release();
    await answered;
    await settle(page);
    expect(await field("Token").count()).toBe(1);
    expect(await page.evaluate<number>("sessionStorage.length + localStorage.length")).toBe(0);
  });

  it("nobody can go on with a plant as it was while what was typed is discarded", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, button, field, sees, dialog } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    await button("Edit Acer").click();
    await field("Name").fill("Acer rubrum");
    await page.keyboard.press("Escape");
    await place.put(7, { name: "Acer", tag: "theirs" });
    await button("Edit Acer").click();
    const read = await hold(page, asks("GET", /^\/plants\/7$/));
    await button("Discard it").click();
    await read.came;
    expect(await field("Name").count()).toBe(0);
    read.release();
    await field("Name").fill("Acer palmatum");
    await button("Save").click();
    await dialog.waitFor({ state: "detached" });
    expect(await place.stored()).toEqual([{ id: 7, name: "Acer palmatum", tag: "theirs" }]);
  });

  it("a search that was begun since stays when a plant is saved behind it", async () => {
    await place.plant(["7,Acer,tree", "8,Ginkgo,"]);
    const { page, signIn, button, field, sees, reads } = await place.visit();
    await signIn();
    await sees(["Acer", "Ginkgo"]);
    await button("Add plant").click();
    await field("Name").fill("Quercus");
    const saving = await hold(page, CREATE);
    await button("Save").click();
    await saving.came;
    await page.keyboard.press("Escape");
    await field("Search names").fill("gink");
    await sees(["Ginkgo"]);
    saving.release();
    await reads("“Quercus” is saved.");
    await settle(page);
    expect(await field("Search names").inputValue()).toBe("gink");
    await sees(["Ginkgo"]);
  });

  it("a list that is read again is not given up when another tab changes something once more, and is read again after it", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, sees, openTab } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    await page.clock.install();
    const { page: other } = await openTab("/livez");
    const tell = () => tellOfChange(page, other);
    await place.put(8, { name: "Salix" });
    const list = await hold(page, LIST, "answer");
    let lists = 0;
    page.on("request", (request) => void (LIST(request) && (lists += 1)));
    await tell();
    await list.came;
    await place.put(9, { name: "Ulmus" });
    await tell();
    expect(lists).toBe(1);
    list.release();
    await sees(["Acer", "Salix"]);
    await page.clock.runFor(1_000);
    await sees(["Acer", "Salix", "Ulmus"]);
  });

  it("a service that is silent is said not to respond, and what did not come comes when it is back", async () => {
    place.expectStatus(0);
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, sees, field } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    await page.clock.install();
    await page.route("**/*", () => undefined);
    await field("Search names").fill("acer");
    const isTold = () => page.getByText("The service does not respond.").isVisible();
    await until("it is told", async () => {
      await page.clock.runFor(5_000);
      return isTold();
    });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await until("it is back", async () => {
      await page.clock.runFor(5_000);
      // What is tried once more may come after the sentence has gone.
      return !(await isTold()) && (await page.locator("td.plant-row-name").count()) === 1;
    });
    await sees(["Acer"]);
  });

  it("tokens are listed as they are, though the response to an earlier question comes last", async () => {
    for (const name of ["one", "two"]) await place.makeToken(["plants:read"], 30, name);
    const { page, signIn, choose, dialog } = await place.visit();
    await signIn();
    await choose("Tokens");
    await dialog.getByRole("rowheader", { name: "two" }).waitFor();
    async function revoke(name: string): Promise<void> {
      await dialog.getByRole("button", { name: `Revoke ${name}` }).click();
      // A second click at once counts as a double click.
      await dialog.getByRole("button", { name: `Revoke for good? ${name}` }).press("Enter");
    }
    const earlier = await hold(page, asks("GET", /^\/tokens/), "answer");
    await revoke("one");
    await earlier.came;
    await revoke("two");
    const revoked = dialog.getByText(/^revoked /);
    await revoked.nth(1).waitFor();
    const answered = page.waitForResponse((response) => response.request().method() === "GET" && response.url().endsWith("/tokens"));
    earlier.release();
    await answered;
    await settle(page);
    expect(await revoked.count()).toBe(2);
  });

  it("a token that was made though the response was lost is in the list that one goes back to", async () => {
    place.expectStatus(0);
    const { page, signIn, choose, button, field, reads, dialog } = await place.visit();
    await signIn();
    await choose("Tokens");
    await button("New token").click();
    await field("Name").fill("robot");
    await page.route("**/tokens", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button("Create token").click();
    await reads("The service cannot be reached: check the connection, then try again.");
    await page.unrouteAll({ behavior: "wait" });
    await button("Back").click();
    await dialog.getByRole("rowheader", { name: "robot" }).waitFor();
    expect(await dialog.getByRole("alert").count()).toBe(0);
  });

  it("a reload shows where the plants will be, before it is known who is signed in", async () => {
    await place.plant(["7,Acer,tree"]);
    const { page, signIn, sees } = await place.visit();
    await signIn();
    await sees(["Acer"]);
    const session = await hold(page, asks("GET", /^\/session$/));
    await page.reload();
    await session.came;
    await page.locator(".skeleton").waitFor();
    expect((await page.locator(".skeleton").boundingBox())!.height).toBeGreaterThan(100);
    session.release();
    await sees(["Acer"]);
  });

  for (const { open, method } of [
    { open: "Add plant", method: "POST" },
    { open: "Edit Acer", method: "PUT" },
  ]) {
    it(`what is being saved cannot be typed on, and is kept as it says if it is cancelled and fails, after ${open}`, async () => {
      place.expectStatus(0);
      await place.plant(["7,Acer,tree"]);
      const { page, signIn, button, field, sees, reads } = await place.visit();
      await signIn();
      await sees(["Acer"]);
      await button(open).click();
      await field("Name").fill("Quercus");
      await page.route(/\/plants(\/7)?$/, (route) => route.abort());
      const saving = await hold(page, asks(method, /^\/plants/));
      await page.keyboard.press("Enter");
      await saving.came;
      await button("Saving…").waitFor();
      await page.keyboard.type(" rubra");
      expect(await field("Name").inputValue()).toBe("Quercus");
      await button("Cancel").click();
      saving.release();
      await reads("Saving “Quercus” failed, and what you typed is kept.");
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await button(open).click();
      expect(await field("Name").inputValue()).toBe("Quercus");
    });
  }

  for (const { what, id } of [
    { what: "an id that the page made", id: undefined },
    { what: "an id that was typed", id: "77" },
  ]) {
    it(`a plant with ${what} is stored once, though responses were lost and its name was corrected twice`, async () => {
      place.expectStatus(0);
      const { page, signIn, button, field, reads, dialog } = await place.visit();
      await signIn();
      await button("Add a plant").click();
      await field("Name").fill("Ginko");
      if (id !== undefined) {
        await button("Choose the id").click();
        await field("Id").fill(id);
      }
      const { promise: isCreated, resolve: created } = Promise.withResolvers<unknown>();
      await page.route("**/plants", (route) => void route.fetch().then(created));
      await button("Save").click();
      await isCreated;
      // While it is still being saved.
      await page.reload();
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await field("Name").fill("Ginkgo");
      await page.route("**/plants/changes", async (route) => {
        await route.fetch();
        await route.abort();
      });
      await button("Save").click();
      await reads("The service cannot be reached: check the connection, then try again.");
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await field("Name").fill("Ginkgo biloba");
      await button("Save").click();
      await dialog.waitFor({ state: "detached" });
      expect((await place.stored()).map(({ name }) => name)).toEqual(["Ginkgo biloba"]);
    });
  }
});
