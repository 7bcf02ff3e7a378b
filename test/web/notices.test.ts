import { describe, expect, it } from "bun:test";
import { asks, hold } from "../support/web/hold.ts";
import { usePlace } from "../support/web/place.ts";

const place = usePlace({ reducedMotion: "no-preference" });

const SEVEN = Array.from({ length: 7 }, (_, at) => `${at + 1},Plant ${at + 1},tree`);

async function stored(): Promise<readonly string[]> {
  const plants = (await (await place.service.request("/plants?limit=1000")).json()) as ReadonlyArray<{ name: string }>;
  return plants.map(({ name }) => name);
}

describe("messages", () => {
  it("of seven deletions are one, with one undo, counting down from the last of them", async () => {
    await place.plant([...SEVEN, "8,Stays,tree"]);
    const { page, signIn, button, sees } = await place.visit();
    await signIn();
    await page.clock.install();
    for (let at = 1; at <= 7; at += 1) {
      await button(`Delete Plant ${at}`).click();
      await page.clock.fastForward(2000);
    }
    await sees(["Stays"]);
    const notices = page.locator(".notice");
    expect(await notices.count()).toBe(1);
    expect(await notices.innerText()).toContain("7 plants will be deleted in 6 seconds.");
    expect(await notices.getByText("7 plants will be deleted in 8 seconds.").count()).toBe(1);
    expect(await stored()).toHaveLength(8);
    await button("Undo").click();
    await sees([...SEVEN.map((row) => row.split(",")[1]!), "Stays"]);
    await page.clock.fastForward(20_000);
    expect(await notices.count()).toBe(0);
    expect(await stored()).toHaveLength(8);
  });

  for (const label of ["Undo", "Close this message"]) {
    it(`are met one by one: a double click on “${label}” leaves the undo of the one that comes into its place`, async () => {
      await place.plant(SEVEN);
      const { page, signIn, button, field, reads } = await place.visit();
      await signIn();
      await page.clock.install();
      await button("Delete Plant 1").click();
      await button("Delete Plant 2").click();
      for (const at of [3, 4]) await page.getByRole("checkbox", { name: `Select Plant ${at}` }).click();
      await button("Set tag").click();
      await field("Tag").fill("shrub");
      await page.keyboard.press("Enter");
      await reads("2 plants are tagged “shrub” now.");
      await page.clock.fastForward(9_000);
      await reads("2 plants are deleted.");
      const tagged = page.locator(".notice", { hasText: "2 plants are tagged" });
      const deleted = page.locator(".notice", { hasText: "2 plants are deleted" });
      const first = deleted.getByRole("button", { name: label });
      // It has come to rest then.
      await first.hover();
      const box = (await first.boundingBox())!;
      // Before it says what it did, in the same place.
      const undoing = await hold(page, asks("POST", /^\/plants\/changes$/));
      // A moment later it says what it does.
      await page.evaluate(`addEventListener("click", ({ detail, target }) => {
        if (detail === 2) globalThis.under = target.closest(".notice").innerText;
      }, true)`);
      await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2);
      await deleted.waitFor({ state: "detached" });
      expect(await page.evaluate<string>("under")).toContain("2 plants are tagged");
      undoing.release();
      await tagged.getByRole("button", { name: "Undo" }).click();
      await reads("2 plants are as before.");
    });
  }

  it("of deletions that were made can be undone too, and say what somebody changed meanwhile", async () => {
    await place.plant(SEVEN);
    const { page, signIn, button, sees, reads } = await place.visit();
    await signIn();
    await sees(SEVEN.map((row) => row.split(",")[1]!));
    await page.clock.install();
    for (const at of [1, 2, 3, 4]) await button(`Delete Plant ${at}`).click();
    const headers = { "content-type": "application/json" };
    await place.service.request("/plants/2", { method: "PUT", body: '{"name":"Theirs"}', headers });
    await page.clock.fastForward(9000);
    await reads("3 plants are deleted. Someone changed “Plant 2” in the meantime, so it was kept.");
    await sees(["Theirs", "Plant 5", "Plant 6", "Plant 7"]);
    await place.service.post('{"id":3,"name":"New"}');
    await button("Undo").click();
    await reads("2 plants are as before. Someone changed “Plant 3” in the meantime, so it was kept.");
    await sees(["Plant 1", "Theirs", "New", "Plant 4", "Plant 5", "Plant 6", "Plant 7"]);
    expect(await stored()).toEqual(["Plant 1", "Theirs", "New", "Plant 4", "Plant 5", "Plant 6", "Plant 7"]);
  });

  it("of deletions that a sign-out makes say so, and offer no undo, for which nobody is signed in", async () => {
    await place.plant(SEVEN);
    const { page, signIn, button, choose, field, reads } = await place.visit();
    await signIn();
    for (const at of [1, 2]) await button(`Delete Plant ${at}`).click();
    await choose("Sign out");
    await field("Token").waitFor();
    await reads("2 plants are deleted.");
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    expect(await stored()).toHaveLength(5);
  });

  it("that offered an undo do not stay for whoever comes after a sign-out", async () => {
    await place.plant(SEVEN);
    const { page, signIn, button, choose, field, reads, dialog } = await place.visit();
    await signIn();
    await page.clock.install();
    await page.getByRole("checkbox", { name: "Select Plant 1", exact: true }).click();
    await button("Set tag").click();
    await field("Tag").fill("secret");
    await dialog.getByRole("button", { name: "Set tag" }).click();
    await reads("“Plant 1” is tagged “secret” now.");
    await page.clock.fastForward(60_000);
    await choose("Sign out");
    await field("Token").waitFor();
    await reads("“Plant 1” is tagged “secret” now.");
    await page.clock.fastForward(15_000);
    await page.getByText("secret").first().waitFor({ state: "detached" });
  });

  it("of plants that are edited one soon after the other are one, which undoes each, by keyboard and after a reload", async () => {
    await place.plant(SEVEN);
    const { page, signIn, button, field, reads, dialog } = await place.visit();
    await signIn();
    for (const at of [1, 2, 3]) {
      await button(`Edit Plant ${at}`).press("Enter");
      await field("Name").fill("");
      await page.keyboard.press("Enter");
      await reads("The plant needs a name: type one.");
      await field("Name").fill(`Herb ${at}`);
      await field("Tag").fill("");
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
    }
    await reads("“Herb 3” is saved.");
    expect(await page.locator(".notice").count()).toBe(1);
    await page.reload();
    for (const at of [3, 2, 1]) {
      await reads(`“Herb ${at}” is saved.`);
      await button("Undo").press("Enter");
      await reads(`“Herb ${at}” is as before.`);
    }
    expect(await (await place.service.request("/plants?tag=tree&limit=1000")).json()).toHaveLength(7);
    expect(await stored()).toEqual(SEVEN.map((row) => row.split(",")[1]!));
  });

  for (const width of [1280, 360]) {
    it(`cover no row of the table in a window of ${width} pixels`, async () => {
      await place.plant(Array.from({ length: 60 }, (_, at) => `${at + 1},Plant ${at + 1},tree`));
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
});
