import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "bun:test";
import { runInside } from "../support/command.ts";
import { TABLES } from "../support/shelf/tables.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { makeZip } from "../support/shelf/workbook.ts";

/** The summary of the command for these counts. */
function summaryOf(file: string, { created, unchanged, refused }: Record<"created" | "unchanged" | "refused", number>): string {
  const read = created + unchanged + refused;
  return `${file}: ${read} read, ${created} created, ${unchanged} unchanged, 0 replaced, ${refused} refused\n`;
}

describe("plant-store import of a table as people have it", () => {
  for (const {
    what,
    make,
    name,
    created,
    unchanged = 0,
    refused = [],
    names,
    unused = [],
    encoding,
    isAsked,
    hasNoIds,
    hasNoHeader,
  } of TABLES) {
    it(`counts every row of ${what}, and changes nothing if it comes again`, async () => {
      const service = await startTestService();
      const environment = { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
      const file = join(temporaryFolder(), name);
      writeFileSync(file, make());
      const words = [
        "import",
        file,
        ...(hasNoIds ? ["--ids", "content"] : []),
        ...(hasNoHeader ? ["--no-header"] : []),
        ...(isAsked ? ["--encoding", encoding!] : []),
      ];
      const [first, again] = [await runInside(words, environment), await runInside(words, environment)];
      expect(first.stdout).toBe(summaryOf(file, { created, unchanged, refused: refused.length }));
      expect(first.status).toBe(refused.length > 0 ? 1 : 0);
      expect(
        Array.from(first.stderr.matchAll(/:(\d+): \d{5} /g), ([, line]) => Number(line)).toSorted((one, other) => one - other),
      ).toEqual([...refused]);
      expect(/not imported: the columns? (.*)/.exec(first.stderr)?.[1] ?? "").toBe(unused.join(", "));
      expect(/read with ((?!separator|sheet|heading|no )[\w-]+);/.exec(first.stderr)?.[1]).toBe(encoding);
      expect(again.stdout).toBe(summaryOf(file, { created: 0, unchanged: created + unchanged, refused: refused.length }));
      const exported = await (await service.request("/plants/export")).text();
      for (const one of names) expect(exported).toContain(`"name":${JSON.stringify(one)}`);
      expect(exported.trimEnd().split("\n")).toHaveLength(created);
      await service.stop();
    });
  }
});

const LINES = "\n".repeat(60_000_000);
const SHEET = `<worksheet><sheetData><row><c t="str"><v>id</v></c><c t="str"><v>name</v></c></row>${" ".repeat(60_000_000)}</sheetData></worksheet>`;
const WORKBOOK = {
  "xl/workbook.xml": '<workbook><sheets><sheet name="x" r:id="r1"/></sheets></workbook>',
  "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="/xl/worksheets/a.xml"/></Relationships>',
};

describe("plant-store import of a bomb", () => {
  for (const [name, bytes, says] of [
    ["bomb.xlsx", () => makeZip({ ...WORKBOOK, "xl/worksheets/a.xml": SHEET }), "250 times"],
    ["bomb.zip", () => makeZip({ "a.csv": `id,name\n${LINES}` }), "250 times"],
    ["bomb.csv.gz", () => gzipSync(`id,name\n${LINES}`), "250 times"],
  ] as const)
    it(`refuses ${name} and says why`, async () => {
      const file = join(temporaryFolder(), name);
      writeFileSync(file, bytes());
      const { status, stdout, stderr } = await runInside(["import", file, "--data", join(temporaryFolder(), "data")]);
      expect([status, stdout, stderr]).toEqual([1, "", expect.stringContaining(says)]);
    });
});
