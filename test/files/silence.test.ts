import { describe, expect, it } from "bun:test";
import { PlantStoreError } from "../../src/domain/errors.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { randomTable } from "../support/tables/random-table.ts";
import { workbookOf } from "../support/tables/packed.ts";
import { plantsIn, readHere, refusedIn } from "../support/tables/read-here.ts";

const TABLES = 300;

describe("a table that is guessed wrong", () => {
  it("says so: three hundred random tables lose or change no row without a word", async () => {
    const random = openRandom(seedOf("random tables"));
    let right = 0;
    for (let at = 0; at < TABLES; at += 1) {
      const { text, columns, headings, names, tags } = randomTable(random);
      const read = await readHere(text).catch((reason: unknown) => {
        if (reason instanceof PlantStoreError) return undefined;
        throw reason;
      });
      if (!read || read.findings.doubts.length > 0) continue;
      const plants = plantsIn(read.rows);
      const given = plants.map(({ plant: { tag = "" } }) => tag);
      const ids = plants.flatMap(({ plant, isIdMade }) => (isIdMade ? [] : [Number(plant.id)]));
      expect({ text, names: plants.map(({ plant }) => plant.name) }).toEqual({ text, names: [...names] });
      // A column that is not imported is named.
      const { unusedColumns } = read.findings;
      const places = columns.map((column, place) => ({ column, isUnused: unusedColumns.includes(headings[place]!) }));
      const has = (wanted: string) => places.some(({ column, isUnused }) => column === wanted && !isUnused);
      expect({ text, given }).toEqual({ text, given: has("tag") ? [...tags] : names.map(() => "") });
      expect({ text, ids }).toEqual({ text, ids: has("id") ? names.map((_, row) => row + 1) : [] });
      right += 1;
    }
    expect(right).toBeGreaterThan(50);
  });
});

const ROWS = Array.from({ length: 100_000 }, (_, at) => `${at + 1},Rosa canina ${at},Hedge\n`);
const HEAD = "Nr,Name,Bed\n";

/** What comes behind the rows that a guess is made from. */
function behind(at: number, ...lines: readonly string[]): string {
  return [HEAD, ...ROWS.slice(0, at), ...lines, ...ROWS.slice(at + lines.length)].join("");
}

describe("a row that is not like the first ones of a table of 100,000 rows", () => {
  for (const [what, line] of [
    ["has more cells", "90000,Rosa, dog,Hedge\n"],
    ["has a code for an id", "0012,Rosa canina,Hedge\n"],
    ["has a number with an exponent for an id", "1E3,Rosa canina,Hedge\n"],
    ["has no id", ",Rosa canina,Hedge\n"],
    ["has its name in another column", "90000,,Rosa canina\n"],
    ["has a quote that is never closed", '90000,"Rosa canina,Hedge\n'],
    ["is a total", "Total,,100000\n"],
  ] as const)
    it(`is refused with its line, and no other row is: ${what}`, async () => {
      const { rows } = await readHere(behind(60_000, line));
      expect([plantsIn(rows).length, refusedIn(rows)]).toEqual([99_999, [60_002]]);
    });

  for (const [what, line] of [
    ["is a total in the column of names", "90000,Total,100000\n"],
    ["has no letter in its name", "90000,25,Hedge\n"],
    ["has a cell that holds a row", '90000,"Rosa\n5,Evil,tree\nend",Hedge\n'],
  ] as const)
    it(`is doubtful, and its line is named: ${what}`, async () => {
      const { rows, findings } = await readHere(behind(60_000, line));
      expect([plantsIn(rows).length, findings.doubts.map((doubt) => doubt.line)]).toEqual([100_000, [60_002]]);
    });

  it("is counted as skipped if it is blank, or the heading again", async () => {
    const { rows, findings } = await readHere(behind(60_000, ",,\n", HEAD));
    expect([plantsIn(rows).length, findings.skipped, findings.doubts]).toEqual([99_998, 2, []]);
  });
});

describe("a comma in a name without quotes", () => {
  it("is doubtful where the row has no more cells than others, and its line is named", async () => {
    const rows = ["1,Rosa canina,Hedge,wet", "2,Rosa, dog,Hedge", "3,Salix alba,Pond,"];
    const { findings } = await readHere(`Nr,Name,Bed,Notes\n${rows.join("\n")}\n`);
    expect(findings.doubts.map(({ line }) => line)).toEqual([3]);
  });
});

describe("a heading", () => {
  it("is found below more blank rows than a guess is made from, and five title lines", async () => {
    const { rows, findings } = await readHere(`${",,\n".repeat(500)}${"Garden,,\n".repeat(5)}${HEAD}1,Rosa canina,Hedge\n`);
    expect([plantsIn(rows).length, findings.skipped, findings.reading?.heading]).toEqual([1, 505, 506]);
  });
});

describe("a quote that opens in one row and closes in another, between tabs", () => {
  it("is doubtful behind the rows that a guess is made from, and its line is named", async () => {
    const rows = ROWS.slice(0, 5_000).map((row) => row.replaceAll(",", "\t"));
    rows[4_000] = '4001\tRosa canina\t"old\n';
    rows[4_001] = '4002\tSalix alba\tnew"\n';
    const { findings } = await readHere(`Nr\tName\tBed\n${rows.join("")}`);
    expect(findings.doubts.map(({ line }) => line)).toEqual([4_002]);
  });
});

describe("a name in quotes where quotes belong to the text", () => {
  it("is doubtful behind the rows that a guess is made from, and its line is named", async () => {
    const pots = ROWS.slice(0, 2_000).map((_, at) => `Acer ${at}" pot,tree\n`);
    const { findings } = await readHere(`name,tag\n${pots.join("")}"Rosa ""Peace""",x\n`);
    expect(findings.doubts.map(({ line }) => line)).toEqual([2_002]);
  });
});

describe("a name in cells that are merged", () => {
  const rows = (...others: readonly string[][]) => [
    ["Name", "Bed"],
    ["Rosa canina", "A"],
    ["Acer rubrum", "B"],
    ["Salix alba", "B"],
    ...others,
  ];

  it("is no plant over all columns, but is named if it looks like one", async () => {
    const { rows: read, findings } = await readHere(workbookOf({ name: "A", merged: "A5:B5", rows: rows(["Iris pumila", ""]) }));
    expect([plantsIn(read).length, findings.doubts]).toEqual([3, [{ line: 5, message: expect.stringContaining("Iris pumila") }]]);
  });

  it("is not named over all columns if it is a title among Latin names", async () => {
    const { rows: read, findings } = await readHere(workbookOf({ name: "A", merged: "A5:B5", rows: rows(["Shrubs", ""]) }));
    expect([plantsIn(read).length, findings.skipped, findings.doubts]).toEqual([3, 1, []]);
  });

  it("is one over genus and species", async () => {
    const table = [
      ["Genus", "Species", "Bed"],
      ["Rosa", "canina", "A"],
      ["Acer rubrum", "", "B"],
    ];
    const { rows: read } = await readHere(workbookOf({ name: "A", merged: "A3:B3", rows: table }));
    expect(plantsIn(read).map(({ plant }) => plant.name)).toEqual(["Rosa canina", "Acer rubrum"]);
  });

  it("does not take the ids from the other rows if it is a title over all columns", async () => {
    const table = [
      ["Nr", "Name", "Bed"],
      ["1", "Rosa canina", "A"],
      ["Trees", "", ""],
      ["2", "Acer rubrum", "B"],
    ];
    const { rows: read } = await readHere(workbookOf({ name: "A", merged: "A3:C3", rows: table }));
    expect(plantsIn(read).map(({ plant }) => Number(plant.id))).toEqual([1, 2]);
  });
});
