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
  it("is there again for a new plant after Escape, Back and a reload, until it is saved or cancelled", async () => {
    const { page, click, typed, reads, leaves, dialog, steps } = await place.open(TWO);
    page.on("dialog", (asked) => void asked.accept());
    await steps("click Add plant > enter Name = Quercus robur > enter Tag = oak");
    const id = /\d{11}/.exec(await dialog.innerText())?.[0] ?? "none";
    const leave = async (how: () => Promise<unknown>) => (await how(), await leaves(), await click("Add plant"));
    for (const goAndComeBack of [() => leave(() => page.keyboard.press("Escape")), () => leave(() => page.goBack()), () => page.reload()]) {
      await goAndComeBack();
      await reads("What you typed before is back.");
      expect([await typed("Name"), await typed("Tag")]).toEqual(["Quercus robur", "oak"]);
      expect(await dialog.innerText()).toContain(id);
    }
    await steps("click Save > sees Acer, Ginkgo, Quercus robur > click Add plant > empty Name > enter Name = Salix > click Cancel");
    await steps("click Add plant > empty Name");
  });

  it("can be discarded when it is back for a change, and overwrites nothing that someone saved before", async () => {
    place.expectStatus(412);
    const { click, steps } = await place.open(TWO);
    await steps("click Edit Ginkgo > enter Name = Ginkgo biloba > press Escape > click Edit Ginkgo > holds Name = Ginkgo biloba");
    await steps("click Discard it > holds Name = Ginkgo > enter Name = Ginkgo mine > press Escape");
    await place.put(2, { name: "Ginkgo theirs" });
    // Its row says so as well, sooner or later.
    await click(/^Edit Ginkgo/);
    await steps("click Save > reads Someone changed this plant in the meantime. > reads Ginkgo theirs");
  });

  it("is there again for an import after Escape, even if some was refused, until all is imported or you sign out", async () => {
    const { page, steps } = await place.open();
    await steps("paste id,name\n3,Quercus\nx,Acer\n > click Import 1 plant > reads 1 plant added, 1 refused.");
    await steps("press Escape > click Import > holds Or paste the rows = id,name\n3,Quercus\nx,Acer\n");
    await steps("enter Or paste the rows = id,name\n4,Acer\n > click Preview the rows > click Import 1 plant > reads 1 plant added.");
    await steps("click Done > click Import > empty Or paste the rows > enter Or paste the rows = id,name\n5,Rosa\n > press Escape");
    await steps("choose Sign out > has Token");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  it("is there again for a new token when its form opens again, until it is made or discarded", async () => {
    const { page, typed, steps } = await place.open();
    const mayWrite = page.getByLabel("add, change, delete and import plants");
    await steps("choose Tokens > click New token > enter Name = Anna's phone > enter Days until it expires = 30");
    await mayWrite.uncheck();
    await steps("click Back > click New token > reads What you typed before is back.");
    expect([await typed("Name"), await typed("Days until it expires"), await mayWrite.isChecked()]).toEqual(["Anna's phone", "30", false]);
    await steps("click Create token > has The new token > click New token > empty Name > enter Name = Ben's phone > click Back");
    await steps("click New token > click Discard it > empty Name");
  });
});

it("closing the tab asks first while something would be lost, and no longer after that", async () => {
  const { page, hold, steps } = await place.open(TWO);
  await steps("click Delete Ginkgo > sees Acer");
  expect(await asksBeforeClosing(page)).toBe(true);
  await steps("click Undo > click Edit Ginkgo > enter Name = Ginkgo biloba");
  expect(await asksBeforeClosing(page)).toBe(true);
  await steps("click Cancel > paste id,name\n3,Quercus\n > reads If you import now: 1 new.");
  expect(await asksBeforeClosing(page)).toBe(true);
  const sent = await hold("POST", /^\/plants\/import/);
  await steps("click Import 1 plant > reads 0 of 1");
  expect(await asksBeforeClosing(page)).toBe(true);
  sent.release();
  await steps("click Done > leaves > click Edit Ginkgo");
  expect(await asksBeforeClosing(page)).toBe(false);
});

it("a dialog has an address: a link opens it, Back closes it, and closing it leaves no step behind", async () => {
  const { page, address, dialog, rows, typed, steps } = await place.open(TWO, { path: "/?tag=tree#plant=2" });
  await steps("holds Name = Ginkgo > press Escape > leaves > at /?tag=tree");
  const length = await page.evaluate<number>("history.length");
  await rows.filter({ hasText: "Acer" }).locator(".plant-row-id").click();
  await steps("has Name > at /?tag=tree#plant=1 > back > leaves");
  await page.goForward();
  await steps("holds Name = Acer > press Escape");
  await until("it is so on the page", () => page.evaluate<boolean>("location.hash === ''"));
  expect([address(), await page.evaluate<number>("history.length")]).toEqual(["/?tag=tree", length + 1]);
  // No plant has an id beyond 64 bits.
  await page.evaluate(`location.hash = "#plant=${2n ** 63n}"`);
  await page.evaluate(`location.hash = "#plant=1"`);
  expect([await typed("Name"), await dialog.count()]).toEqual(["Acer", 1]);
});

it("what is saved after its dialog was closed is told, leaves what was opened and searched since, and is kept if it failed", async () => {
  place.expectStatus(0);
  const { click, enter, typed, reads, address, fail, hold, steps } = await place.open(TWO);
  for (const [name, said] of [
    ["Quercus robur", "“Quercus robur” is saved."],
    ["Quercus rubra", "Saving “Quercus rubra” failed, and what you typed is kept. The service cannot be"],
  ] as const) {
    await click("Add plant");
    await enter({ Name: name });
    const restore = name === "Quercus rubra" ? await fail(/\/plants$/) : undefined;
    const saving = await hold("POST", /^\/plants$/);
    await steps("click Save > press Escape > leaves > enter Search names = acer > sees Acer > click Edit Acer");
    saving.release();
    await reads(said);
    expect([await typed("Name"), address()]).toEqual(["Acer", "/?q=acer#plant=1"]);
    await click("Cancel");
    await restore?.();
  }
  await steps("click Add plant > holds Name = Quercus rubra");
});

it("an import that Back has ended in its middle is told all that it has stored, and sees it", async () => {
  const { page, click, upload, reads, leaves, steps } = await place.open(TWO);
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
  await steps("click Import 3,000 plants > reads 1,000 of 3,000");
  await until("the second slice is sent", () => sent === 2);
  await steps("back > reads The import stopped after 2,000 of 3,000 lines. Its dialog was closed. What was sent is saved");
  await steps("reads 2,002 plants.");
  expect(await (await place.service.request("/plants/count")).json()).toMatchObject({ plants: 2_002 });
});
