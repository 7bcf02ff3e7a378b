import { describe, expect, it } from "bun:test";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

describe("tokens", () => {
  it("are created, shown once, copied, and revoked", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const { page, signIn, button, field, reads, dialog } = await place.visit("/", { permissions });
    await signIn();
    await button("Tokens").click();
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
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
    expect(await rows.last().innerText()).toMatch(/Anna's phone[\s\S]*plants:read[\s\S]*valid until \d{4}-\d\d-\d\d/);
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${place.service.url}/plants`, { headers })).status).toBe(200);
    expect((await fetch(`${place.service.url}/plants/1`, { method: "DELETE", headers })).status).toBe(403);

    await button("Done").click();
    await button("Tokens").click();
    await rows.first().waitFor();
    expect(await dialog.getByText(secret).count()).toBe(0);
    await button("Revoke Anna's phone").click();
    await button("Revoke Anna's phone for good").click();
    await reads(/^revoked \d{4}/);
    await page.waitForTimeout(700);
    expect((await fetch(`${place.service.url}/plants`, { headers })).status).toBe(401);
  });
});
