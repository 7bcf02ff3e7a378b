import { describe, expect, it } from "bun:test";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

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
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
    expect(await rows.last().innerText()).toMatch(/Anna's phone[\s\S]*plants:read[\s\S]*valid until [A-Z][a-z]+ \d+, \d{4}/);
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
});
