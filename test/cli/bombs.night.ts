import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "bun:test";
import { runInside } from "../support/command.ts";
import { makeZip } from "../support/shelf/workbook.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LINES = "\n".repeat(60_000_000);
const SHEET = `<worksheet><sheetData><row><c t="str"><v>id</v></c><c t="str"><v>name</v></c></row>${" ".repeat(60_000_000)}</sheetData></worksheet>`;
const WORKBOOK = {
  "xl/workbook.xml": '<workbook><sheets><sheet name="x" r:id="r1"/></sheets></workbook>',
  "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="/xl/worksheets/a.xml"/></Relationships>',
};

describe("plant-store import refuses a bomb", () => {
  for (const [name, bytes, says] of [
    ["bomb.xlsx", () => makeZip({ ...WORKBOOK, "xl/worksheets/a.xml": SHEET }), "too long"],
    ["bomb.zip", () => makeZip({ "a.csv": `id,name\n${LINES}` }), "250 times"],
    ["bomb.csv.gz", () => gzipSync(`id,name\n${LINES}`), "250 times"],
  ] as const)
    it(`in ${name}, and says why`, async () => {
      const file = join(temporaryFolder(), name);
      writeFileSync(file, bytes());
      const { status, stdout, stderr } = await runInside(["import", file, "--data", join(temporaryFolder(), "data")]);
      expect([status, stdout, stderr]).toEqual([1, "", expect.stringContaining(says)]);
    });
});
