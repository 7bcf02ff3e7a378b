import { describe, expect, it } from "bun:test";
import { until } from "../support/until.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

const TWO = ["1,Acer,tree", "2,Ginkgo,tree"];

/** The renderer tells the browser that the page listens, some milliseconds later. Nothing shows when. */
const TOLD_MS = 250;

/** Tries to close the page. Whether the browser asked first. */
async function asksBeforeClosing(page: Visit["page"]): Promise<boolean> {
  let isAsked = false;
  page.once("dialog", (dialog) => {
    isAsked = dialog.type() === "beforeunload";
    void dialog.dismiss();
  });
  await Bun.sleep(TOLD_MS);
  await page.close({ runBeforeUnload: true });
  for (let tries = 0; tries < 40 && !isAsked && !page.isClosed(); tries += 1) await Bun.sleep(50);
  return isAsked;
}

describe("what is typed", () => {
  it("for a new plant is there again after Escape, Back and a reload, until it is saved or cancelled", async () => {
    const { page, click, enter, typed, reads, sees, leaves, dialog } = await place.open(TWO);
    page.on("dialog", (asked) => void asked.accept());
    await click("Add plant");
    await enter({ Name: "Quercus robur", Tag: "oak" });
    const id = /\d{11}/.exec(await dialog.innerText())?.[0] ?? "none";
    const leave = async (how: () => Promise<unknown>) => (await how(), await leaves(), await click("Add plant"));
    for (const goAndComeBack of [() => leave(() => page.keyboard.press("Escape")), () => leave(() => page.goBack()), () => page.reload()]) {
      await goAndComeBack();
      await reads("What you typed before is back.");
      expect([await typed("Name"), await typed("Tag")]).toEqual(["Quercus robur", "oak"]);
      expect(await dialog.innerText()).toContain(id);
    }
    await click("Save");
    await sees(["Acer", "Ginkgo", "Quercus robur"]);
    await click("Add plant");
    expect(await typed("Name")).toBe("");
    await enter({ Name: "Salix" });
    await click("Cancel", "Add plant");
    expect(await typed("Name")).toBe("");
  });

  it("for a change can be discarded when it is back, and overwrites nothing that someone saved before", async () => {
    place.expectStatus(412);
    const { page, click, enter, typed, reads } = await place.open(TWO);
    await click("Edit Ginkgo");
    await enter({ Name: "Ginkgo biloba" });
    await page.keyboard.press("Escape");
    await click("Edit Ginkgo");
    expect(await typed("Name")).toBe("Ginkgo biloba");
    await click("Discard it");
    expect(await typed("Name")).toBe("Ginkgo");
    await enter({ Name: "Ginkgo mine" });
    await page.keyboard.press("Escape");
    await place.put(2, { name: "Ginkgo theirs" });
    await click("Edit Ginkgo", "Save");
    await reads("Someone changed this plant in the meantime.");
    await reads("Ginkgo theirs");
  });

  it("or pasted to be imported is there again after Escape, even if some was refused, until all is imported or you sign out", async () => {
    const { page, click, enter, typed, reads, paste, choose, field } = await place.open();
    await paste("id,name\n3,Quercus\nx,Acer\n");
    await click("Import 1 plant");
    await reads("1 plant added, 1 refused.");
    await page.keyboard.press("Escape");
    await click("Import");
    expect(await typed("Or paste the rows")).toBe("id,name\n3,Quercus\nx,Acer\n");
    await enter({ "Or paste the rows": "id,name\n4,Acer\n" });
    await click("Preview the rows", "Import 1 plant");
    await reads("1 plant added.");
    await click("Done", "Import");
    expect(await typed("Or paste the rows")).toBe("");
    await enter({ "Or paste the rows": "id,name\n5,Rosa\n" });
    await page.keyboard.press("Escape");
    await choose("Sign out");
    await field("Token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  it("for a new token is there again when its form opens again, until it is made or discarded", async () => {
    const { page, click, enter, typed, reads, choose, field } = await place.open();
    const mayWrite = page.getByLabel("add, change, delete and import plants");
    await choose("Tokens");
    await click("New token");
    await enter({ Name: "Anna's phone", "Days until it expires": "30" });
    await mayWrite.uncheck();
    await click("Back", "New token");
    await reads("What you typed before is back.");
    expect([await typed("Name"), await typed("Days until it expires"), await mayWrite.isChecked()]).toEqual(["Anna's phone", "30", false]);
    await click("Create token");
    await field("The new token").waitFor();
    await click("New token");
    expect(await typed("Name")).toBe("");
    await enter({ Name: "Ben's phone" });
    await click("Back", "New token", "Discard it");
    expect(await typed("Name")).toBe("");
  });
});

it("closing the tab asks first while something would be lost, and no longer after that", async () => {
  const { page, click, sees, enter, paste, reads, leaves, hold } = await place.open(TWO);
  await click("Delete Ginkgo");
  await sees(["Acer"]);
  expect(await asksBeforeClosing(page)).toBe(true);
  await click("Undo", "Edit Ginkgo");
  await enter({ Name: "Ginkgo biloba" });
  expect(await asksBeforeClosing(page)).toBe(true);
  await click("Cancel");
  await paste("id,name\n3,Quercus\n");
  await reads("If you import now: 1 new.");
  expect(await asksBeforeClosing(page)).toBe(true);
  const sent = await hold("POST", /^\/plants\/import/);
  await click("Import 1 plant");
  await reads("0 of 1");
  expect(await asksBeforeClosing(page)).toBe(true);
  sent.release();
  await click("Done");
  await leaves();
  await click("Edit Ginkgo");
  expect(await asksBeforeClosing(page)).toBe(false);
});

it("a dialog has an address: a link opens it, Back closes it, and closing it leaves no step behind", async () => {
  const { page, address, field, dialog, rows, typed, leaves } = await place.open(TWO, { path: "/?tag=tree#plant=2" });
  expect(await typed("Name")).toBe("Ginkgo");
  await page.keyboard.press("Escape");
  await leaves();
  expect(address()).toBe("/?tag=tree");
  const steps = await page.evaluate<number>("history.length");
  await rows.filter({ hasText: "Acer" }).locator(".plant-row-id").click();
  await field("Name").waitFor();
  expect(address()).toBe("/?tag=tree#plant=1");
  await page.goBack();
  await leaves();
  await page.goForward();
  expect(await typed("Name")).toBe("Acer");
  await page.keyboard.press("Escape");
  await until("it is so on the page", () => page.evaluate<boolean>("location.hash === ''"));
  expect([address(), await page.evaluate<number>("history.length")]).toEqual(["/?tag=tree", steps + 1]);
  // No plant has an id beyond 64 bits.
  await page.evaluate(`location.hash = "#plant=${2n ** 63n}"`);
  await page.evaluate(`location.hash = "#plant=1"`);
  expect([await typed("Name"), await dialog.count()]).toEqual(["Acer", 1]);
});

it("what is saved after its dialog was closed is told, leaves what was opened and searched since, and is kept if it failed", async () => {
  place.expectStatus(0);
  const { page, click, enter, typed, reads, leaves, address, fail, hold } = await place.open(TWO);
  for (const [name, said] of [
    ["Quercus robur", "“Quercus robur” is saved."],
    ["Quercus rubra", "Saving “Quercus rubra” failed, and what you typed is kept. The service cannot be"],
  ] as const) {
    await click("Add plant");
    await enter({ Name: name });
    const restore = name === "Quercus rubra" ? await fail(/\/plants$/) : undefined;
    const saving = await hold("POST", /^\/plants$/);
    await click("Save");
    await page.keyboard.press("Escape");
    await leaves();
    await enter({ "Search names": "acer" });
    await click("Edit Acer");
    saving.release();
    await reads(said);
    expect([await typed("Name"), address()]).toEqual(["Acer", "/?q=acer#plant=1"]);
    await click("Cancel");
    await restore?.();
  }
  await click("Add plant");
  expect(await typed("Name")).toBe("Quercus rubra");
});

it("an import that Back has ended in its middle is told all that it has stored, and sees it", async () => {
  const { page, click, upload, reads, leaves } = await place.open(TWO);
  await click("Import");
  await upload("many.csv", `id,name\n${Array.from({ length: 3_000 }, (_, at) => `${at + 100},Quercus`).join("\n")}\n`);
  await reads("If you import now: 3,000 new.");
  let sent = 0;
  await page.route("**/plants/import*", async (route) => {
    sent += 1;
    const response = await route.fetch();
    // The second slice is stored, and its answer comes when the dialog is gone.
    if (sent === 2) await leaves();
    await route.fulfill({ response }).catch(() => {});
  });
  await click("Import 3,000 plants");
  await reads("1,000 of 3,000");
  await page.goBack();
  await reads("The import stopped after 2,000 of 3,000 lines. Its dialog was closed. What was sent is saved");
  await reads("2,002 plants.");
  expect(await (await place.service.request("/plants/count")).json()).toMatchObject({ plants: 2_002 });
});
