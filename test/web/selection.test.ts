import { describe, expect, it } from "bun:test";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

const TEN = rowsOf(10, (id) => (id % 2 === 1 ? "tree" : ""));

async function open(rows: readonly string[] = TEN, width = 1280): Promise<Visit> {
  const visit = await place.open(rows, { viewport: { width, height: 740 } });
  return visit;
}

describe("selected plants", () => {
  it("get a tag, lose it when that is left empty, and are as before after an undo, even after a reload", async () => {
    const { page, box, setTag, reads, click } = await open();
    const before = await place.stored();
    await box("Plant 2").click();
    await box("Plant 5").click({ modifiers: ["Shift"] });
    await reads("4 plants selected");
    await setTag("herb");
    await reads("Set the tag of 4 plants to “herb”.");
    expect((await place.stored("tag=herb")).map(({ id }) => id)).toEqual([2, 3, 4, 5]);
    await page.reload();
    await click("Undo");
    await reads("Restored 4 plants.");
    expect(await place.stored()).toEqual(before);
    await box("Plant 1").click();
    await click("Set tag");
    await reads("Leave it empty to remove the tag.");
    await page.keyboard.press("Enter");
    await reads("Removed the tag from “Plant 1”.");
  });

  it("are deleted together, with an undo before and after", async () => {
    const { page, box, boxes, button, reads, sees, passUndo, click } = await open();
    const before = await place.stored();
    const names = before.map(({ name }) => name);
    await page.clock.install();
    for (const undone of ["before", "after"]) {
      await boxes.click();
      await box("Plant 1").click();
      await reads("9 plants selected");
      await click("Delete selected");
      await sees(["Plant 1"]);
      await reads("9 plants will be deleted in 8 seconds.");
      expect(await button("Set tag").count()).toBe(0);
      if (undone === "after") {
        await passUndo();
        await reads("Deleted 9 plants.");
        expect(await place.stored()).toHaveLength(1);
      }
      await click("Undo");
      await sees(names);
    }
    await reads("Restored 9 plants.");
    expect(await place.stored()).toEqual(before);
  });

  it("are saved as files that import the same, and for a spreadsheet without formulas", async () => {
    const { boxes, button, saves } = await open(['1,"a,""b",', '2,=1+1,""', "3,Plant 3,tree"]);
    const before = await place.stored();
    await boxes.click();
    const sheet = await saves(() => button("Save for a spreadsheet").click());
    expect(sheet.text).toBe('\ufeffid,name,tag\n1,"a,""b",\n2,\'=1+1,""\n3,Plant 3,tree\n');
    for (const [label, type] of [
      ["Save CSV", "text/csv"],
      ["Save NDJSON", "application/x-ndjson"],
    ] as const) {
      const { text: body } = await saves(() => button(label).click());
      for (const { id } of before) await place.remove(id);
      await place.service.request("/plants/import", { method: "POST", body, headers: { "content-type": type } });
      expect(await place.stored()).toEqual(before);
    }
  });

  it("are those of the view that is shown, never of the one before", async () => {
    const { page, box, reads, sees, click, hold } = await open();
    await box("Plant 1").click();
    const list = await hold("GET", /^\/plants\?.*tag=tree/);
    await click(/^tree/);
    await list.came;
    // The plants of before are still there.
    await box("Plant 2").click();
    await reads("2 plants selected");
    list.release();
    await sees([1, 3, 5, 7, 9].map((at) => `Plant ${at}`));
    expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(0);
  });

  it("of a token that may only read can be saved, and nothing else", async () => {
    const { page, box, button } = await place.open(TEN, { token: (await place.makeToken(["plants:read"])).token });
    await box("Plant 1").click();
    const bar = page.getByRole("region", { name: "Selected plants" });
    expect(await bar.getByRole("button").allInnerTexts()).toEqual(["Select all", "Save CSV", "Save NDJSON", "Save for a spreadsheet", ""]);
    expect(await button("Rename this tag…").count()).toBe(0);
  });
});

it("a tag is renamed everywhere, after a warning that is not of a tag typed before, and its dialog closes with Back", async () => {
  const { page, field, reads, address, click, leaves, hold } = await open(["1,Acer,tre", "2,Salix,tree"]);
  await click(/^tre\b/, "Rename this tag…");
  await field("Tag").fill("tree ");
  await reads("1 plant has this tag already: you will not be able to tell it apart from these.");
  const count = await hold("GET", /^\/plants\/count\?tag=trees/);
  await field("Tag").fill("trees");
  await count.came;
  expect(await page.getByText("has this tag already").count()).toBe(0);
  count.release();
  await page.goBack();
  await leaves();
  expect(address()).toBe("/?tag=tre");
  await click("Rename this tag…");
  await reads("What you typed before is back.");
  await field("Tag").fill("tree");
  await click("Rename everywhere");
  await reads("Set the tag of “Acer” to “tree”.");
  await reads("2 plants found.");
  expect(address()).toBe("/?tag=tree");
});
