import { describe, expect, it } from "bun:test";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

// A refused request logs an error in the browser's console, which fails the test: the page must not send one.

const place = usePlace();

async function makeToken(scopes: readonly string[], days?: number): Promise<Schemas["CreatedToken"]> {
  const body = JSON.stringify({ name: "somebody", scopes, days });
  return (await place.service.request("/tokens", { method: "POST", body })).json() as Promise<Schemas["CreatedToken"]>;
}

async function visitWith(scopes: readonly string[]): Promise<Visit> {
  const { token } = await makeToken(scopes);
  const visit = await place.visit();
  await visit.signIn(token);
  return visit;
}

/** Which kinds of buttons the page has, anywhere. */
async function offered({ page, button }: Visit): Promise<readonly string[]> {
  const isBehindDialog = (await page.getByRole("dialog").count()) > 0;
  if (!isBehindDialog) await button("Settings").click();
  const kinds = ["Add", "Edit", "Delete", "Import", "Export", "Tokens"];
  const counts = await Promise.all(kinds.map((kind) => page.getByRole("button", { name: new RegExp(`^${kind}`) }).count()));
  await page.keyboard.press(isBehindDialog ? "Shift" : "Escape");
  return kinds.filter((_, at) => counts[at]! > 0);
}

describe("the page of a token", () => {
  it("that may only read shows plants, searches and exports, and offers no change", async () => {
    await place.plant(["1,Monstera,tropical", "2,Ginkgo,tree"]);
    const visit = await visitWith(["plants:read"]);
    await visit.sees(["Monstera", "Ginkgo"]);
    expect(await offered(visit)).toEqual(["Export"]);
    expect(await visit.page.getByRole("table", { name: "Plants" }).getByRole("columnheader").allInnerTexts()).toEqual([
      "Selected",
      "Id Newest",
      "Name",
      "Tag",
    ]);
    await visit.field("Search names").fill("gink");
    await visit.sees(["Ginkgo"]);
    const [download] = await Promise.all([visit.page.waitForEvent("download"), visit.choose("Export NDJSON")]);
    expect(download.suggestedFilename()).toContain("ndjson");
  });

  it("that may only read says that an empty catalogue is empty", async () => {
    const visit = await visitWith(["plants:read"]);
    await visit.reads("This catalogue is empty, and your token cannot add plants.");
    expect(await offered(visit)).toEqual(["Export"]);
  });

  it("that may only write adds and imports plants, and requests none", async () => {
    place.expectStatus(409);
    const visit = await visitWith(["plants:write"]);
    const { button, field, reads } = visit;
    await visit.page.clock.install();
    await reads("It can add and import plants.");
    expect(await offered(visit)).toEqual(["Add", "Import"]);
    for (const name of ["Monstera", "Ginkgo"]) {
      await button("Add a plant").click();
      await button("Choose the id").click();
      await field("Id").fill("1");
      await field("Name").fill(name);
      await button("Save").click();
      await reads(name === "Monstera" ? "“Monstera” is saved." : "Another plant has this id");
    }
    expect(await button("Show the plant that has it").count()).toBe(0);
    await button("Cancel").click();
    await button("Import a file").click();
    await field("Or paste the rows").fill("id,name\n2,Ginkgo\n");
    await button("Preview the rows").click();
    await button("Import 1 plant").click();
    await reads("1 plant added");
    // Tags are counted again six seconds after a change, for those who may see them.
    await visit.page.clock.fastForward(7000);
    await button("Close").first().click();
    await reads("It can add and import plants.");
    expect((await place.service.request("/plants/2")).status).toBe(200);
  });

  it("that may only manage tokens begins with them, and offers nothing else", async () => {
    const visit = await visitWith(["admin"]);
    const { button, field, reads, dialog } = visit;
    await dialog.locator("tbody tr").first().waitFor();
    await button("New token").click();
    await field("Name").fill("another");
    for (const meaning of ["see, search and export plants", "add, change, delete and import plants"])
      await visit.page.getByLabel(meaning).uncheck();
    await visit.page.getByLabel("create and revoke tokens").check();
    await button("Create token").click();
    expect(await field("The new token").inputValue()).toMatch(/^plant_/);
    await button("Done").click();
    await reads("It can create and revoke tokens.");
    expect(await offered(visit)).toEqual(["Tokens"]);
    await button("Manage tokens").click();
    await dialog.locator("tbody tr").first().waitFor();
  });

  it("that may write and manage tokens offers both, but no plants", async () => {
    const visit = await visitWith(["plants:write", "admin"]);
    await visit.reads("It can add and import plants, and create and revoke tokens.");
    expect(await offered(visit)).toEqual(["Add", "Import", "Tokens"]);
    expect(await visit.dialog.count()).toBe(0);
  });

  it("stays the same after a reload, even if the service is silent for a while", async () => {
    place.expectStatus(0);
    const visit = await visitWith(["plants:read", "admin"]);
    const { page, reads } = visit;
    await reads("This catalogue is empty");
    expect(await offered(visit)).toEqual(["Export", "Tokens"]);
    await page.route("**/session", (route) => route.abort("connectionrefused"));
    await page.reload();
    await reads("The service cannot be reached");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await visit.button("Try again").click();
    await reads("This catalogue is empty");
    expect(await offered(visit)).toEqual(["Export", "Tokens"]);
  });

  it("allows a sign-out while the service is too busy to say who is signed in", async () => {
    place.expectStatus(503);
    const { page, signIn, reads, field, button } = await place.visit();
    await signIn();
    await reads("Nothing grows here yet");
    const body = JSON.stringify({ error: 50301, message: "The store cannot be reached or written." });
    await page.route("**/session", (route) => route.fulfill({ status: 503, contentType: "application/json", body }));
    await page.reload();
    await reads("The service cannot reach its store");
    await button("Sign out").click();
    await field("Token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  it("that was revoked asks for a token again on a reload", async () => {
    place.expectStatus(401);
    const { id, token } = await makeToken(["plants:read"]);
    const { page, signIn, reads, field } = await place.visit();
    await signIn(token);
    await reads("This catalogue is empty");
    await place.service.request(`/tokens/${id}`, { method: "DELETE" });
    await page.waitForTimeout(700);
    await page.reload();
    await reads("The service no longer accepts this token");
    await field("Token").waitFor();
  });

  for (const { days, format } of [
    { days: 30, format: { dateStyle: "medium" } },
    { days: 0.5, format: { dateStyle: "medium", timeStyle: "short" } },
  ] as const) {
    it(`that expires in ${days} days says in its settings until when it is valid, in the reader's language and time`, async () => {
      const { token, expires = "" } = await makeToken(["plants:read", "plants:write", "admin"], days);
      for (const { width, locale } of [
        { width: 1440, locale: "de-DE" },
        { width: 360, locale: "en-US" },
      ]) {
        const timeZone = "Asia/Tokyo";
        const { page, signIn, button } = await place.visit("/", { viewport: { width, height: 740 }, locale, timezoneId: timeZone });
        await signIn(token);
        await button("Settings").click();
        const text = new Intl.DateTimeFormat(locale, { ...format, timeZone }).format(new Date(expires));
        await page.getByText(`until ${text}`, { exact: true }).waitFor();
        expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(width);
        expect((await page.getByRole("banner").boundingBox())!.height).toBeLessThan(70);
      }
    });
  }

  it("that does not expire shows no date", async () => {
    const { page, signIn, reads } = await place.visit();
    await signIn();
    await reads("Nothing grows here yet");
    expect(await page.getByText(/until \d/).count()).toBe(0);
  });
});
