import { describe, expect, it } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

async function open(): Promise<Visit> {
  const visit = await place.open([], { permissions: ["clipboard-read", "clipboard-write"], hasTouch: true });
  await visit.choose("Tokens");
  await visit.dialog.locator("tbody tr").first().waitFor();
  return visit;
}

describe("tokens", () => {
  it("are created with chosen scopes and an end, shown once, copied, kept from Escape and Back, and revoked", async () => {
    const { page, reads, dialog, click, typed, steps, comesTrue } = await open();
    const rows = dialog.locator("tbody tr");
    await steps("click New token > enter Name = Anna's phone > enter Days until it expires = 30");
    await page.getByLabel("add, change, delete and import plants").uncheck();
    await click("Create token");
    const secret = await typed("The new token");
    expect(secret).toMatch(/^plant_[0-9A-Za-z]{38}$/);
    for (let times = 0; times < 3; times += 1) await page.keyboard.press("Escape");
    await page.goBack();
    await page.waitForURL(/#tokens$/);
    expect(await typed("The new token")).toBe(secret);
    await steps("click Copy > reads Copied.");
    await comesTrue(`navigator.clipboard.readText().then((text) => text === "${secret}")`);
    await rows.getByText("Anna's phone").waitFor();
    expect(await rows.last().innerText()).toMatch(/Anna's phone\s*plants:read\s*[A-Z][\s\S]*valid until [A-Z][a-z]+ \d+, \d{4}/);
    const ask = async (method: string) =>
      (await fetch(`${place.service.url}/plants/1`, { method, headers: { authorization: `Bearer ${secret}` } })).status;
    expect([await ask("GET"), await ask("DELETE")]).toEqual([404, 403]);
    await steps("click Done > choose Tokens");
    await rows.first().waitFor();
    expect(await dialog.getByText(secret).count()).toBe(0);
    await click("Revoke Anna's phone", "Revoke for good? Anna's phone");
    await reads(/^revoked [A-Z][a-z]+ \d+/);
    await Bun.sleep(700);
    expect(await ask("GET")).toBe(401);
  });

  const presses: readonly Readonly<{ how: string; press: (page: Page, button: Locator) => Promise<void> }>[] = [
    { how: "by a double click", press: (_, button) => button.dblclick() },
    {
      how: "by two quick taps",
      async press(page, button) {
        await button.scrollIntoViewIfNeeded();
        const { x, y } = (await button.boundingBox())!;
        // Not by its name, which is another one then.
        const touch = await page.context().newCDPSession(page);
        const point = { x: x + 9, y: y + 9 };
        const events = [
          ["touchStart", [point]],
          ["touchEnd", []],
          ["touchStart", [point]],
          ["touchEnd", []],
        ] as const;
        // With their times: on a busy machine they could come too far apart to be one double tap.
        const began = Date.now() / 1000;
        await Promise.all(
          events.map(([type, touchPoints], at) =>
            touch.send("Input.dispatchTouchEvent", { type, touchPoints: [...touchPoints], timestamp: began + at * 0.05 }),
          ),
        );
      },
    },
    {
      how: "by a key that is held down",
      async press(page, button) {
        await button.focus();
        for (const _ of [1, 2, 3]) await page.keyboard.down("Enter");
        await page.keyboard.up("Enter");
      },
    },
  ];
  it("are not revoked without an answer, however the button was pressed, nor by two quick presses of a key", async () => {
    const names = ["Anna", "Ben", "Carl"];
    for (const name of names) await place.makeToken(["plants:read"], 30, name);
    const { page, button, dialog, steps } = await open();
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.method()));
    for (const [at, { press }] of presses.entries()) {
      await press(page, button(`Revoke ${names[at]}`));
      await button(`Revoke for good? ${names[at]}`).waitFor();
    }
    await page.reload();
    for (const key of ["Enter", "Space"]) {
      await button("Revoke Anna").focus();
      await page.keyboard.press(key);
      await button("Revoke for good? Anna").waitFor();
      // The second takes the question back, and the focus stays.
      await page.keyboard.press(key);
      await button("Revoke for good? Anna").waitFor({ state: "detached" });
    }
    expect(sent).not.toContain("DELETE");
    await steps("press Space > offers Revoke for good? Anna > press Tab > press Space");
    await dialog.getByText(/^revoked/).waitFor();
  });
});
