import { describe, expect, it } from "bun:test";
import { createFindings } from "../../src/files/row.ts";
import { openSheetCells } from "../../src/files/workbook/sheet.ts";
import type { Sheet } from "../../src/files/workbook/workbook.ts";

type Cells = readonly (readonly string[])[];

/** So many sheets with these cells, the names of those that were looked at, and which one was chosen. */
async function choose(count: number, cellsOf: (at: number) => Cells) {
  const looked: string[] = [];
  const sheets = Array.from({ length: count }, (_, at): Sheet => {
    const name = `s${at}`;
    async function* rows(): ReturnType<Sheet["rows"]> {
      looked.push(name);
      yield cellsOf(at).map((cells, row) => ({ line: row + 1, cells }));
    }
    return { name, isVisible: true, rows };
  });
  const findings = createFindings();
  await openSheetCells(sheets, {}, 1_000_000, findings);
  return { looked, sheet: findings.sheet, doubts: findings.doubts.map(({ message }) => message) };
}

const NOTES: Cells = [["a note"]];
const PLANTS: Cells = [
  ["Genus", "Species", "Author"],
  ["Rosa", "Rosa canina", "L."],
  ["Acer", "Acer rubrum", "L."],
];

describe("of the sheets of a workbook", () => {
  it("none is looked at behind one that surely has plants", async () => {
    const { looked, sheet } = await choose(5, (at) => (at > 0 ? PLANTS : NOTES));
    expect({ looked, sheet }).toEqual({ looked: ["s0", "s1"], sheet: "s1" });
  });

  it("fifty are looked at, or so many as have a hundred thousand cells together", async () => {
    expect((await choose(1_000, () => NOTES)).looked).toHaveLength(50);
    const wide = [Array<string>(10_000).fill("a note")];
    expect((await choose(1_000, () => wide)).looked).toHaveLength(10);
  });

  it("fifty are named that are not read, and the others are counted", async () => {
    const [doubt] = (await choose(1_000, () => NOTES)).doubts;
    expect(doubt).toBe(`Only the sheet s0 is read, not ${Array.from({ length: 50 }, (_, at) => `s${at + 1}`).join(", ")} and 949 more.`);
  });
});
