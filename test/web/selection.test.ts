import { describe, expect, it } from "bun:test";
import { rowsOf } from "../support/web/garden.ts";
import { usePlace } from "../support/web/place.ts";

const place = usePlace();

const TEN = rowsOf(10, (id) => (id % 2 === 1 ? "tree" : ""));

describe("selected plants", () => {
  it("get a tag, lose it when that is left empty, and are as before after an undo, even after a reload", async () => {
    const { box, steps } = await place.open(TEN);
    const before = await place.stored();
    await box("Plant 2").click();
    await box("Plant 5").click({ modifiers: ["Shift"] });
    await steps("reads 4 plants selected > tag herb > reads Set the tag of 4 plants to “herb”.");
    expect((await place.stored("tag=herb")).map(({ id }) => id)).toEqual([2, 3, 4, 5]);
    await steps("reload > click Undo > reads Restored 4 plants.");
    expect(await place.stored()).toEqual(before);
    await steps("select Plant 1 > click Set tag > reads Leave it empty to remove the tag. > press Enter");
    await steps("reads Removed the tag from “Plant 1”.");
  });

  it("are saved as files that import the same, and for a spreadsheet without formulas", async () => {
    const { boxes, click, saves } = await place.open(['1,"a,""b",', '2,=1+1,""', "3,Plant 3,tree"]);
    const before = await place.stored();
    await boxes.click();
    const sheet = await saves(() => click("Save as", "CSV for a spreadsheet"));
    expect(sheet.text).toBe('\ufeffid,name,tag\n1,"a,""b",\n2,\'=1+1,""\n3,Plant 3,tree\n');
    const csv = await saves(() => click("Save as", "CSV"));
    const ndjson = await saves(() => click("Save as", "NDJSON"));
    // What is deleted elsewhere is selected no more.
    for (const [body, type] of [
      [csv.text, "text/csv"],
      [ndjson.text, "application/x-ndjson"],
    ] as const) {
      for (const { id } of before) await place.remove(id);
      await place.service.request("/plants/import", { method: "POST", body, headers: { "content-type": type } });
      expect(await place.stored()).toEqual(before);
    }
  });

  it("are those of the view that is shown, never of the one before", async () => {
    const { page, box, sees, click, hold, steps } = await place.open(TEN);
    await box("Plant 1").click();
    const list = await hold("GET", /^\/plants\?.*tag=tree/);
    await click(/^tree/);
    await list.came;
    // The plants of before are still there.
    await steps("select Plant 2 > reads 2 plants selected");
    list.release();
    await sees([1, 3, 5, 7, 9].map((at) => `Plant ${at}`));
    expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(0);
  });
});

it("a tag is renamed everywhere, after a warning that is not of a tag typed before, and its dialog closes with Back", async () => {
  const { page, field, click, hold, steps } = await place.open(["1,Acer,tre", "2,Salix,tree"]);
  await click(/^tre\b/, "Rename this tag…");
  await steps("enter Tag = tree  > reads 1 plant has this tag already: you will not be able to tell it apart from these.");
  const count = await hold("GET", /^\/plants\/count\?tag=trees/);
  await field("Tag").fill("trees");
  await count.came;
  expect(await page.getByText("has this tag already").count()).toBe(0);
  count.release();
  await steps("back > leaves > at /?tag=tre > click Rename this tag… > reads What you typed before is back.");
  await steps("enter Tag = tree > click Rename everywhere > reads Set the tag of “Acer” to “tree”.");
  await steps("reads 2 plants found. > at /?tag=tree");
});
