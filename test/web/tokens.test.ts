import { describe, expect, it } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

/** What some people do where one press is enough. */
const PRESSED_ONCE: readonly Readonly<{ how: string; press: (page: Page, button: Locator) => Promise<void> }>[] = [
  { how: "a double click", press: (_, button) => button.dblclick() },
  {
    how: "two quick taps",
    async press(page, button) {
      await button.scrollIntoViewIfNeeded();
      const { x, y } = (await button.boundingBox())!;
      // Not by its name, which is another one then.
      for (const _ of [1, 2]) await page.touchscreen.tap(x + 9, y + 9);
    },
  },
  {
    how: "a key that is held down",
    async press(page, button) {
      await button.focus();
      for (const _ of [1, 2, 3]) await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
    },
  },
];

describe("tokens", () => {
  it("are created, shown once, copied, and revoked", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const { page, signIn, button, field, reads, dialog, choose } = await place.visit("/", { permissions });
    await signIn();
    await choose("Tokens");
    const rows = dialog.locator("tbody tr");
    await rows.first().waitFor();
    await button("New token").click();
    await field("Name").fill("Anna's phone");
    await page.getByLabel("add, change, delete and import plants").uncheck();
    await field("Days until it expires").fill("30");
    await button("Create token").click();
    const secret = await field("The new token").inputValue();
    expect(secret).toMatch(/^plant_[0-9A-Za-z]{38}$/);
    await button("Copy").click();
    await reads("Copied.");
    await page.waitForFunction(`navigator.clipboard.readText().then((text) => text === "${secret}")`);
    await rows.getByText("Anna's phone").waitFor();
    expect(await rows.last().innerText()).toMatch(/Anna's phone\s*plants:read\s*[A-Z][\s\S]*valid until [A-Z][a-z]+ \d+, \d{4}/);
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${place.service.url}/plants`, { headers })).status).toBe(200);
    expect((await fetch(`${place.service.url}/plants/1`, { method: "DELETE", headers })).status).toBe(403);

    await button("Done").click();
    await choose("Tokens");
    await rows.first().waitFor();
    expect(await dialog.getByText(secret).count()).toBe(0);
    await button("Revoke Anna's phone").click();
    await button("Revoke for good? Anna's phone").click();
    await reads(/^revoked [A-Z][a-z]+ \d+/);
    await page.waitForTimeout(700);
    expect((await fetch(`${place.service.url}/plants`, { headers })).status).toBe(401);
  });

  it("are valid and can be revoked though the clock of the device is two days ahead of their end", async () => {
    await place.service.request("/tokens", { method: "POST", body: '{"name":"Anna","scopes":["plants:read"],"days":1}' });
    const { page, signIn, button, choose, dialog } = await place.visit();
    await page.clock.setSystemTime(Date.now() + 3 * 24 * 60 * 60 * 1000);
    await signIn();
    await choose("Tokens");
    await dialog.getByText(/^valid until/).waitFor();
    await button("Revoke Anna").click();
  });

  for (const { how, press } of PRESSED_ONCE) {
    it(`ask whether they are to be revoked for good, and wait for the answer, however they were pressed: by ${how}`, async () => {
      await place.service.request("/tokens", { method: "POST", body: '{"name":"Anna","scopes":["plants:read"],"days":30}' });
      const { page, signIn, button, choose, dialog } = await place.visit("/", { hasTouch: true });
      await signIn();
      await choose("Tokens");
      const sent: string[] = [];
      page.on("request", (request) => sent.push(request.method()));
      await press(page, button("Revoke Anna"));
      await button("Revoke for good? Anna").waitFor();
      expect(sent).not.toContain("DELETE");
      await button("Revoke for good? Anna").click();
      await dialog.getByText(/^revoked/).waitFor();
    });
  }

  for (const key of ["Enter", "Space"]) {
    it(`are not revoked by two quick presses of ${key}: the second takes the question back, and the focus stays`, async () => {
      await place.service.request("/tokens", { method: "POST", body: '{"name":"Anna","scopes":["plants:read"],"days":30}' });
      const { page, signIn, button, choose, dialog } = await place.visit();
      await signIn();
      await choose("Tokens");
      const sent: string[] = [];
      page.on("request", (request) => sent.push(request.method()));
      await button("Revoke Anna").focus();
      await page.keyboard.press(key);
      await button("Revoke for good? Anna").waitFor();
      await page.keyboard.press(key);
      await button("Revoke for good? Anna").waitFor({ state: "detached" });
      expect(sent).not.toContain("DELETE");
      // Whoever reads it goes on to the answer.
      await page.keyboard.press(key);
      await button("Revoke for good? Anna").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press(key);
      await dialog.getByText(/^revoked/).waitFor();
    });
  }

  it("have names of at most 100 letters, and none is said to be made that is too long", async () => {
    const { page, signIn, button, field, choose, dialog } = await place.visit();
    await signIn();
    await choose("Tokens");
    await button("New token").click();
    // As a paste does.
    await field("Name").focus();
    await page.keyboard.insertText("x".repeat(200_000));
    await button("Create token").click();
    await dialog.getByRole("rowheader", { name: "x".repeat(100), exact: true }).waitFor();
  });

  it("that are valid come first of 1,800, and the others in their order", async () => {
    const { tokens } = place.service.store;
    const old = Array.from({ length: 1800 }, (_, at) => `old ${at}`);
    const create = (name: string, at: number) =>
      tokens.create(
        { id: name, name, scopes: [], created: 1000 + at, ...(at % 2 === 0 ? { revoked: 2000 } : { expires: 2000 }) },
        `hash of ${name}`,
      );
    // More than that may not wait at once.
    for (let at = 0; at < old.length; at += 600)
      await Promise.all(old.slice(at, at + 600).map((name, behind) => create(name, at + behind)));
    await place.service.request("/tokens", { method: "POST", body: '{"name":"Anna","scopes":["plants:read"],"days":30}' });
    const { signIn, choose, dialog } = await place.visit();
    await signIn();
    await choose("Tokens");
    const names = dialog.getByRole("rowheader");
    await names.getByText("Anna", { exact: true }).waitFor();
    expect(await names.allInnerTexts()).toEqual(["first", "Anna", ...old]);
  });
});
