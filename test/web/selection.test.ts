import { describe, expect, it } from "bun:test";
import { hold, asks } from "../support/web/hold.ts";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";
import type { Visit } from "../support/web/visit.ts";

const place = usePlace();

const TEN = rowsOf(10, (id) => (id % 2 === 1 ? "tree" : ""));

async function open(rows: readonly string[] = TEN, width = 1280): Promise<Visit> {
  await place.plant(rows);
  const visit = await place.visit("/", { viewport: { width, height: 740 } });
  await visit.signIn();
  await visit.rows.first().waitFor();
  return visit;
}

describe("selected plants", () => {
  it("get a tag, lose it when that is left empty, and are as before after an undo, even after a reload", async () => {
    const { page, box, setTag, button, reads } = await open();
    const before = await place.stored();
    await box("Plant 2").click();
    await box("Plant 5").click({ modifiers: ["Shift"] });
    await reads("4 plants selected");
    await setTag("herb");
    await reads("Set the tag of 4 plants to “herb”.");
    expect((await place.stored("tag=herb")).map(({ id }) => id)).toEqual([2, 3, 4, 5]);
    await page.reload();
    await button("Undo").click();
    await reads("Restored 4 plants.");
    expect(await place.stored()).toEqual(before);
    await box("Plant 1").click();
    await button("Set tag").click();
    await reads("Leave it empty to remove the tag.");
    await page.keyboard.press("Enter");
    await reads("Removed the tag from “Plant 1”.");
  });

  it("are deleted together, with an undo before and after", async () => {
    const { page, box, boxes, button, reads, sees, passUndo } = await open();
    const before = await place.stored();
    const names = before.map(({ name }) => name);
    await page.clock.install();
    for (const undone of ["before", "after"]) {
      await boxes.click();
      await box("Plant 1").click();
      await reads("9 plants selected");
      await button("Delete selected").click();
      await sees(["Plant 1"]);
      await reads("9 plants will be deleted in 8 seconds.");
      expect(await button("Set tag").count()).toBe(0);
      if (undone === "after") {
        await passUndo();
        await reads("Deleted 9 plants.");
        expect(await place.stored()).toHaveLength(1);
      }
      await button("Undo").click();
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
    const { page, box, button, reads, sees } = await open();
    await box("Plant 1").click();
    const list = await hold(page, asks("GET", /^\/plants\?.*tag=tree/));
    await button(/^tree/).first().click();
    await list.came;
    // The plants of before are still there.
    await box("Plant 2").click();
    await reads("2 plants selected");
    list.release();
    await sees([1, 3, 5, 7, 9].map((at) => `Plant ${at}`));
    expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(0);
  });

  it("of a token that may only read can be saved, and nothing else", async () => {
    await place.plant(TEN);
    const { page, signIn, box, button } = await place.visit();
    await signIn((await place.makeToken(["plants:read"])).token);
    await box("Plant 1").click();
    const bar = page.getByRole("region", { name: "Selected plants" });
    expect(await bar.getByRole("button").allInnerTexts()).toEqual(["Select all", "Save CSV", "Save NDJSON", "Save for a spreadsheet", ""]);
    expect(await button("Rename this tag…").count()).toBe(0);
  });
});

it("a tag is renamed everywhere, after a warning that is not of a tag typed before, and its dialog closes with Back", async () => {
  const { page, button, field, dialog, reads, address } = await open(["1,Acer,tre", "2,Salix,tree"]);
  await button(/^tre\b/)
    .first()
    .click();
  await button("Rename this tag…").click();
  await field("Tag").fill("tree ");
  await reads("1 plant has this tag already: you will not be able to tell it apart from these.");
  const count = await hold(page, asks("GET", /^\/plants\/count\?tag=trees/));
  await field("Tag").fill("trees");
  await count.came;
  expect(await page.getByText("has this tag already").count()).toBe(0);
  count.release();
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  expect(address()).toBe("/?tag=tre");
  await button("Rename this tag…").click();
  await reads("What you typed before is back.");
  await field("Tag").fill("tree");
  await button("Rename everywhere").click();
  await reads("Set the tag of “Acer” to “tree”.");
  await reads("2 plants found.");
  expect(address()).toBe("/?tag=tree");
});
