import { describe, expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

// What goes wrong for somebody who is tired, in a hurry, or on a train.

const place = usePlace();

async function stored(): Promise<string> {
  return (await place.service.request("/plants/export")).text();
}

async function open(plants: number, token?: string, isRemembered = false): Promise<Visit> {
  await place.plant(Array.from({ length: plants }, (_, at) => `${at + 1},Plant ${at + 1},tree`));
  const visit = await place.visit("/?q=");
  if (isRemembered) await visit.page.getByLabel("Stay signed in on this device").check();
  await visit.signIn(token);
  await visit.rows.first().waitFor();
  return visit;
}

async function makeToken(): Promise<Readonly<{ id: string; token: string }>> {
  const body = JSON.stringify({ name: "short", scopes: ["plants:read", "plants:write"] });
  return (await (await place.service.request("/tokens", { method: "POST", body })).json()) as { id: string; token: string };
}

describe("the dialog of a tag", () => {
  it("closes with Back, which leaves the view and the selection, and has what was typed when it opens again", async () => {
    const { page, button, field, dialog, reads, address } = await open(10);
    await button(/^tree/).first().click();
    await reads("10 plants found.");
    await page.getByRole("checkbox", { name: "Select Plant 2", exact: true }).click();
    await button("Set tag").click();
    await field("Tag").fill("herb");
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
    expect(address()).toBe("/?tag=tree");
    await reads("1 plant selected");
    await button("Set tag").click();
    expect(await field("Tag").inputValue()).toBe("herb");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await button("Set tag").click();
    await reads("What you typed before is back.");
    await page.keyboard.press("Enter");
    await reads("“Plant 2” is tagged “herb” now.");
    await button("Undo").click();
    await reads("“Plant 2” is as before.");
  });

  it("that was cancelled is empty when it opens again", async () => {
    const { page, button, field } = await open(3);
    await page.getByRole("checkbox", { name: "Select Plant 2", exact: true }).click();
    await button("Set tag").click();
    await field("Tag").fill("herb");
    await button("Cancel").click();
    await button("Set tag").click();
    expect(await field("Tag").inputValue()).toBe("");
  });
});

it("a new token, which is shown only once, goes neither by Escape nor by Back", async () => {
  const { page, button, field, choose, dialog } = await open(1);
  await choose("Tokens");
  await button("New token").click();
  await field("Name").fill("phone");
  await button("Create token").click();
  const secret = await field("The new token").inputValue();
  for (let times = 0; times < 3; times += 1) await page.keyboard.press("Escape");
  expect(await field("The new token").inputValue()).toBe(secret);
  await page.goBack();
  await page.waitForURL(/#tokens$/);
  expect(await field("The new token").inputValue()).toBe(secret);
  await button("Done").click();
  await dialog.waitFor({ state: "detached" });
});

it("a token that was made after its dialog was closed is shown", async () => {
  const { page, button, field, choose, dialog } = await open(1);
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

describe("many changes", () => {
  it("in whose middle the token is revoked are told exactly, and undone after another sign-in", async () => {
    place.expectStatus(401);
    const { id, token } = await makeToken();
    const { page, button, field, reads, dialog } = await open(3000, token);
    const before = await stored();
    await page.getByRole("checkbox", { name: "Select Plant 1", exact: true }).click();
    await button("Select all").click();
    await reads("3,000 plants selected");
    let requests = 0;
    await page.route("**/plants/changes", async (route) => {
      requests += 1;
      if (requests === 2) await place.service.request(`/tokens/${id}`, { method: "DELETE" });
      if (requests === 2) await Bun.sleep(700);
      await route.continue();
    });
    await button("Remove tag").click();
    await field("Token").fill(place.service.token);
    await button("Sign in").click();
    await dialog.waitFor({ state: "detached" });
    await reads("1,000 plants are without a tag now. 2,000 plants left as they were. The service does not accept this token");
    expect((await stored()).match(/"tree"/g)).toHaveLength(2000);
    await button("Undo").click();
    await reads("plants are as before.");
    expect(await stored()).toBe(before);
  });

  it("are undone, and a deletion that waits is made, in what a token of other scopes shows", async () => {
    place.expectStatus(401);
    const { id, token } = await makeToken();
    const { page, button, field, reads, rows, sees } = await open(3, token);
    await page.getByRole("checkbox", { name: "Select Plant 1", exact: true }).click();
    await page.getByRole("checkbox", { name: "Select Plant 2", exact: true }).click();
    await button("Remove tag").click();
    await reads("2 plants are without a tag now.");
    await page.clock.install();
    await button("Delete Plant 3").click();
    await place.service.request(`/tokens/${id}`, { method: "DELETE" });
    // The service remembers a token for half a second.
    await Bun.sleep(700);
    await button("Refresh").click();
    // Of the administrator.
    await field("Token").fill(place.service.token);
    await button("Sign in").click();
    await field("Token").waitFor({ state: "detached" });
    await sees(["Plant 1", "Plant 2"]);
    await reads("2 plants selected");
    await button("Undo").first().click();
    await reads("2 plants are as before.");
    expect(await rows.allInnerTexts()).toEqual(["1\nPlant 1\ntree", "2\nPlant 2\ntree"]);
    await page.clock.fastForward(9_000);
    await until("the third is deleted", async () => !(await stored()).includes("Plant 3"));
    await page.getByText("will be deleted").first().waitFor({ state: "detached" });
    await sees(["Plant 1", "Plant 2"]);
  });

  it("of which nobody knows how many they are say what was left when the service refuses the rest", async () => {
    place.expectStatus(403);
    const { page, button, field, reads } = await open(1100);
    await button(/^tree/).first().click();
    await button("Rename this tag…").click();
    await field("Tag").fill("herb");
    let requests = 0;
    const body = JSON.stringify({ error: 40300, message: "This needs the scope plants:write." });
    await page.route("**/plants/changes", (route) => {
      requests += 1;
      return requests === 1 ? route.continue() : route.fulfill({ status: 403, contentType: "application/json", body });
    });
    await button("Rename everywhere").click();
    await reads("1,000 plants are tagged “herb” now. All others are left as they were. Your token may only read");
    expect((await stored()).match(/"tree"/g)).toHaveLength(100);
  });

  for (const where of ["this tab", "another tab"])
    it(`end when somebody signs out in ${where}, are told, and go on for nobody else`, async () => {
      const mine = await makeToken();
      const theirs = await makeToken();
      const { page, button, field, reads, dialog } = await open(3000, mine.token, where === "another tab");
      // What could be undone before is for nobody else either.
      await page.getByRole("checkbox", { name: "Select Plant 2", exact: true }).click();
      await button("Set tag").click();
      await field("Tag").fill("herb");
      await dialog.getByRole("button", { name: "Set tag" }).click();
      await reads("“Plant 2” is tagged “herb” now.");
      await page.getByRole("checkbox", { name: "Select Plant 1", exact: true }).click();
      await button("Select all").click();
      await reads("3,000 plants selected");
      const sent: string[] = [];
      const { promise: isOut, resolve: goOn } = Promise.withResolvers<void>();
      await page.route("**/plants/changes", async (route) => {
        sent.push((await route.request().headerValue("authorization")) ?? "");
        if (sent.length === 2) await isOut;
        await route.continue();
      });
      await button("Remove tag").click();
      await reads("1,000 of 3,000");
      if (where === "this tab") await button("Settings").click();
      const other = where === "this tab" ? page : await page.context().newPage();
      if (other !== page) {
        await other.goto(place.service.url);
        await other.getByRole("button", { name: "Settings" }).click();
      }
      await other.getByRole("button", { name: "Sign out" }).click();
      await field("Token").fill(theirs.token);
      await button("Sign in").click();
      await button("Settings").waitFor();
      goOn();
      await reads("2,000 plants are without a tag now. 1,000 plants left as they were. You signed out before it was over.");
      expect(sent).toEqual([`Bearer ${mine.token}`, `Bearer ${mine.token}`]);
      expect((await stored()).match(/"tree"/g)).toHaveLength(1000);
      expect(await button("Undo").count()).toBe(0);
      expect(await page.evaluate("sessionStorage.getItem('plant-store-/-undos')")).toBeNull();
    });

  it("whose undo loses the connection on the way are undone to the end", async () => {
    place.expectStatus(0);
    const { page, button, reads } = await open(3000);
    const before = await stored();
    await page.getByRole("checkbox", { name: "Select Plant 1", exact: true }).click();
    await button("Select all").click();
    await reads("3,000 plants selected");
    await button("Remove tag").click();
    await reads("3,000 plants are without a tag now.");
    let requests = 0;
    await page.route("**/plants/changes", async (route) => {
      requests += 1;
      if (requests === 2) await route.fetch();
      await (requests === 1 ? route.continue() : route.abort("connectionreset"));
    });
    await button("Undo").click();
    await button("Go on undoing").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.reload();
    await button("Go on undoing").click();
    await reads("2,000 plants are as before.");
    expect(await stored()).toBe(before);
  });

  it("that are too many for now say so, and are not half done without a word", async () => {
    place.expectStatus(429);
    const { page, button, reads } = await open(5);
    const before = await stored();
    await page.getByRole("checkbox", { name: "Select all plants that are loaded" }).click();
    const body = JSON.stringify({ error: 42900, message: "Too many requests." });
    await page.route("**/plants/changes", (route) =>
      route.fulfill({ status: 429, headers: { "retry-after": "60" }, contentType: "application/json", body }),
    );
    await button("Remove tag").click();
    await reads("Too much was asked from here: try again in a moment.");
    expect(await stored()).toBe(before);
    await reads("5 plants selected");
  });
});

it("an export that is under way at a sign-out saves no file", async () => {
  const { page, choose, reads } = await open(3);
  const saved: string[] = [];
  page.on("download", (download) => void saved.push(download.suggestedFilename()));
  const { promise: isOut, resolve: goOn } = Promise.withResolvers<void>();
  await page.route("**/plants/export*", async (route) => {
    await isOut;
    // The browser may have given it up already.
    await route.continue().catch(() => undefined);
  });
  await choose("Export CSV");
  await reads("Exporting plants-");
  await choose("Sign out");
  goOn();
  await reads("Nothing was saved. You signed out before it was over.");
  expect(saved).toEqual([]);
});
