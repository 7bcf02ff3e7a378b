import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { quote } from "../../src/files/csv-writer.ts";
import { gunzip } from "../../src/files/gunzip.ts";
import { openFile } from "../../src/files/open-file.ts";
import { openSheetCells } from "../../src/files/workbook/sheet.ts";
import { createFindings } from "../../src/files/row.ts";
import { refusedFile } from "../../web/import/refused-file.ts";
import { runInside } from "../support/command.ts";
import { startTestService } from "../support/service.ts";
import { damagedEntry, makeWorkbook, makeZip } from "../support/shelf/workbook.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { check, preview, send } from "../support/web/page-import.ts";

const ROW = '<row r="2"><c r="A2"><v>1</v></c></row>';
const CELL_OF_TEXT = '<c t="s"><v>0</v></c>';

/** A workbook with one sheet, and other parts. */
function sheetOf(xml: string | Uint8Array, others: Readonly<Record<string, string>> = {}): Buffer {
  return makeZip({
    "xl/workbook.xml": '<workbook><sheets><sheet name="x" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="/xl/worksheets/a.xml"/></Relationships>',
    "xl/worksheets/a.xml": xml,
    ...others,
  });
}

function workbookOf(rows: string, others: Readonly<Record<string, string>> = {}): Buffer {
  return sheetOf(`<worksheet><sheetData>${rows}</sheetData></worksheet>`, others);
}

/** A workbook whose cells may all have the one text that they share, of a million letters. */
function sharing(rows: string): Buffer {
  return workbookOf(rows, { "xl/sharedStrings.xml": `<sst><si><t>${"a".repeat(900_000)}</t></si></sst>` });
}

/** A workbook with many sheets, all of them this one. */
function sheetsOf(rows: string, count: number): Buffer {
  const sheets = '<sheet name="x" r:id="r1"/>'.repeat(count);
  return workbookOf(rows, { "xl/workbook.xml": `<workbook><sheets>${sheets}</sheets></workbook>` });
}

const WHOLE = makeWorkbook([
  ["id", "name"],
  [1, "Acer"],
]);

type SheetText = Readonly<{ text: string; faults: readonly string[]; doubts: readonly string[] }>;

/** The sheet of a workbook that is guessed: its text as CSV, its faults as `line:place fault`, and what is doubtful. */
async function sheetIn(bytes: Uint8Array): Promise<SheetText> {
  const findings = createFindings();
  const source = await openFile({ bytes: inOne(bytes), whole: () => Promise.resolve(new Blob([Buffer.from(bytes)])), gunzip });
  if (source.format !== "workbook") throw new Error("no workbook");
  const { rows } = await openSheetCells(source.sheets, {}, Infinity, findings);
  const all = (await Array.fromAsync(rows)).flat().filter((row) => "cells" in row);
  const lines = Array.from({ length: all.at(-1)?.line ?? 0 }, () => "");
  for (const { line, cells } of all) lines[line - 1] = cells.map((cell = "") => quote(cell)).join(",");
  return {
    text: lines.map((line) => `${line}\n`).join(""),
    faults: all.flatMap(({ line, faults = [] }) => Array.from(faults, ([at, fault]) => `${line}:${at} ${fault}`)),
    doubts: findings.doubts.map(({ message }) => message),
  };
}

async function csvOf(bytes: Uint8Array): Promise<string> {
  return (await sheetIn(bytes)).text;
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

describe("a workbook is refused", () => {
  const xml = `<worksheet><sheetData>${ROW}<row r="3"><c t="inlineStr"><is><t>é</t></is></c></row></sheetData></worksheet>`;
  const list = "<sst><si><t>a</t></si></sst>";
  const cell = (place: string) => `<worksheet><sheetData><row><c t="s"><v>${place}</v></c></row></sheetData></worksheet>`;
  for (const [what, bytes, says] of [
    ["whose data has another CRC-32", damagedEntry(WHOLE, 16, 1), "The file is damaged"],
    ["whose data has another length", damagedEntry(WHOLE, 24, 1), "The file is damaged"],
    ["whose directory ends in a name", damagedEntry(WHOLE, 28, 60_000), "The file is damaged"],
    ["whose sheet is not closed", sheetOf(xml.slice(0, -12)), "The XML in the file is incomplete"],
    ["whose sheet ends in a row", sheetOf(xml.slice(0, -40)), "The XML in the file is incomplete"],
    ["whose texts are not closed", sheetOf(xml, { "xl/sharedStrings.xml": list.slice(0, -6) }), "incomplete"],
    ["in Latin-1", sheetOf(Buffer.from(xml, "latin1")), "not UTF-8"],
    ["in UTF-16", sheetOf(Buffer.from(`\ufeff${xml}`, "utf16le")), "not UTF-8"],
    ["that says it is in another encoding", sheetOf(`<?xml version="1.0" encoding='ISO-8859-1'?>${xml}`), "not UTF-8"],
    ["that ends in a letter", sheetOf(Buffer.concat([Buffer.from(xml), Buffer.of(0xc3)])), "not UTF-8"],
    ["with a text behind the last", sheetOf(cell("1"), { "xl/sharedStrings.xml": list }), "A cell names a text"],
    ["with a cell behind XFD", workbookOf('<row><c r="XFE1"/></row>'), "a cell XFE1, which Excel"],
    ["with a cell far behind", workbookOf('<row><c r="AAAAA1"><v>1</v></c></row>'), "a cell AAAAA1"],
    ["of comments without an end", workbookOf("<!--".repeat(500_000)), "The XML in the file is incomplete"],
    ["that ends in a comment", workbookOf(`${ROW}<!-- `), "The XML in the file is incomplete"],
    ["with a text before the first", sheetOf(cell("-1"), { "xl/sharedStrings.xml": list }), "A cell names a text"],
    ["with rows in no order", workbookOf(ROW + ROW), "out of order"],
    ["with a row far below", workbookOf('<row r="99999999"></row>'), "out of order"],
    ["that is a bomb of sheets that are one", sheetsOf(" ".repeat(400_000), 40), "250 times"],
    ["that is a bomb of cells that share a text", sharing(`<row>${CELL_OF_TEXT}</row>`.repeat(20)), "250 times"],
    ["that is a bomb in one row", sharing(`<row>${CELL_OF_TEXT.repeat(5)}</row>`), "too long"],
  ] as const) {
    it(what, async () => {
      const reason = await csvOf(bytes).catch(String);
      expect(reason).toMatch(/^(Table|PlantStore)Error: /);
      expect(reason).toContain(says);
    });
  }
});

describe("the sheet of a workbook", () => {
  it("is whole with a prefix, a closed element without content, an end with space in it, and letters cut between pieces", async () => {
    const name = "é🌿".repeat(100_000);
    const row = `<x:row r="1"><x:c t="inlineStr"><x:is><x:t>a${name}</x:t></x:is></x:c></x:row >`;
    const strings = { "xl/sharedStrings.xml": '<x:sst count="0" />' };
    const head = '<?xml version="1.0" encoding="UTF-8"?>';
    expect(await csvOf(sheetOf(`${head}<x:worksheet><x:sheetData>${row}</x:sheetData></x:worksheet >`, strings))).toBe(`a${name}\n`);
    expect(await csvOf(sheetOf("<worksheet/>", strings))).toBe("");
  });

  it("has its cells by their addresses, and a line for each row", async () => {
    const rows = '<row r="2"><c r="C2"><v>1</v></c></row><x:row r="4"><x:c r="AA4" t="str"><x:v>z</x:v></x:c></x:row>'.replaceAll("x:", "");
    expect(await csvOf(workbookOf(rows))).toBe(`\n,,1\n\n${",".repeat(26)}z\n`);
  });

  it("ends its rows with the last cell that has content", async () => {
    const empty = '<c r="XFD1" s="1"/><c t="inlineStr" r="XFC1"><is><t></t></is></c><c t="str" r="E1"><f>""</f><v></v></c>';
    const rows = `<row>${empty}</row><row><c r="B2"><v>1</v></c>${empty}<c r="A2"><v>2</v></c></row>`;
    expect(await csvOf(workbookOf(rows))).toBe("\n2,1\n");
  });

  it("has no comments, and the text of CDATA", async () => {
    const text = "<![CDATA[<!-- a<&lt;</row> ]]>";
    const cell = `<c r='A1' t='inlineStr'><is><t>${text}</t></is></c>`;
    const comment = `<!-- ${"</row>".repeat(50_000)}<![CDATA[ -->`;
    const rows = `${comment}<row r="1">${cell}<!-- <c><v>2</v></c> --></row>${comment}<!-- ${ROW} -->`;
    expect(await csvOf(workbookOf(rows))).toBe('"<!-- a<&lt;</row> "\n');
  });

  it("is the first that is visible and not empty, and the others are named", async () => {
    const parts = ["", ROW, '<row r="1"><c r="A1" s="1"/></row>', ROW.replace("<v>1", "<v>7"), ROW];
    const names = parts.map((_, at) => `<sheet name="s${at}" ${at === 1 ? 'state="hidden" ' : ""}r:id="r${at}"/>`);
    const relations = parts.map((_, at) => `<Relationship Id="r${at}" Target="worksheets/${at}.xml"/>`);
    const book = makeZip({
      "xl/workbook.xml": `<workbook><sheets>${names.join("")}</sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": `<Relationships>${relations.join("")}</Relationships>`,
      ...Object.fromEntries(parts.map((rows, at) => [`xl/worksheets/${at}.xml`, `<worksheet><sheetData>${rows}</sheetData></worksheet>`])),
    });
    expect(await csvOf(book)).toBe("\n7\n");
    expect((await sheetIn(book)).doubts).toEqual(["Only the sheet s3 is read, not s0, s1, s2, s4."]);
  });

  it("has a fault where a cell is an error, or a formula without its result", async () => {
    const broken = ['<c t="e"><v>#N/A</v></c>', "<c><f>B1</f></c>", '<c t="str"><f>B1</f></c>', '<c><f t="x">B1</f><v/></c>'];
    const { faults } = await sheetIn(workbookOf(broken.map((cell) => `<row><c><v>1</v></c>${cell}</row>`).join("")));
    expect(faults).toEqual(["1:1 error", "2:1 error", "3:1 error", "4:1 error"]);
  });

  /** More digits than a double has room for. */
  const LONG = "9".repeat(400);

  it("keeps the digits of numbers, and says which of them Excel has rounded", async () => {
    const kept = ["9007199254740993", "0.30000000000000004", "123456789012345678", LONG];
    const rounded = ["9007199254740992", "1234567890123457000", "-1234567890123456800"];
    const written = ["-1E+3", "4.006381333931E12"];
    const rows = [...kept, ...rounded, ...written].map((value) => `<row><c><v>${value}</v></c></row>`);
    const { text, faults } = await sheetIn(workbookOf(rows.join("")));
    expect(faults).toEqual(["2:0 doubtful", "5:0 rounded", "6:0 rounded", "7:0 rounded"]);
    const told = rounded.map((value) => `${value} (rounded to 15 digits by Excel)`);
    expect(text.trimEnd().split("\n")).toEqual([...kept, ...told, "-1000", "4006381333931"]);
  });

  it("takes a 0 for no result where its program left the formulas to the next one", async () => {
    const rows = '<row><c><f>B1</f><v>0</v></c><c><v>0</v></c><c t="str"><f>B1</f><v>x</v></c></row>';
    const sheets = '<sheets><sheet name="x" r:id="r1"/></sheets>';
    const read = (calc: string) => sheetIn(workbookOf(rows, { "xl/workbook.xml": `<workbook>${sheets}<calcPr ${calc}/></workbook>` }));
    expect(await read('calcId="124519" fullCalcOnLoad="1"')).toMatchObject({ text: "?,0,x\n", faults: ["1:0 error"] });
    expect(await read('calcId="124519" fullCalcOnLoad="0"')).toMatchObject({ text: "0,0,x\n", faults: [] });
  });

  it("takes half of a letter for an error, as LEFT() leaves it of an emoji", async () => {
    const cell = (text: string) => `<c t="str"><v>${text}</v></c>`;
    const read = await sheetIn(workbookOf(`<row>${cell("a_xD83C_")}${cell("_xD83C__xDF3F_")}</row>`));
    expect(read).toMatchObject({ text: "a\ufffd,🌿\n", faults: ["1:0 error"] });
  });

  it("has text of all kinds: entities, escapes, line breaks, hints for pronunciation", async () => {
    const cell = (xml: string) => `<c t="inlineStr"><is>${xml}</is></c>`;
    const texts = ["<t>&lt;&amp;&#228;&#x1F33F;</t>", "<t>a_x000D__x000A_b</t>", "<r><t>東</t></r><rPh><t>とう</t></rPh>", "<t/>"];
    expect(await csvOf(workbookOf(`<row r="1">${texts.map(cell).join("")}</row>`))).toBe("<&ä🌿,a b,東\n");
  });
});

/** A workbook with a row of each fault, and rows of texts that look like one. */
const FAULTY = workbookOf(
  [
    ...["id", "name", "tag", "price"].map((name) => `<c t="str"><v>${name}</v></c>`),
    '<c><v>1</v></c><c t="str"><v>\ufdd0#N/A</v></c><c t="str"><v>1 (rounded to 15 digits by Excel)</v></c><c t="e"><v>#N/A</v></c>',
    '<c><v>2</v></c><c t="e"><v>#N/A</v></c>',
    '<c><v>3</v></c><c t="str"><v>x</v></c><c><v>9007199254740992</v></c>',
    '<c><v>9007199254740992</v></c><c t="str"><v>x</v></c>',
    '<c t="str"><v>no id</v></c><c t="str"><v>x</v></c>',
    '<c><v>4</v></c><c t="str"><f>B1</f></c>',
    '<c><v>5</v></c><c t="str"><v>#N/A</v></c><c/><c><v>9007199254740992</v></c>',
    "<c><v>6</v></c><c><v>4006381333931120</v></c>",
    "<c><v>7</v></c><c><v>400638133393112</v></c>",
  ]
    .reduce<string[]>((rows, row, at) => (at < 4 ? [`${rows[0] ?? ""}${row}`] : [...rows, row]), [])
    .map((cells, at) => `<row r="${at * 2 + 1}">${cells}</row>`)
    .join(""),
);
const STORED = [
  { id: 1, name: "\ufdd0#N/A", tag: "1 (rounded to 15 digits by Excel)" },
  { id: 7, name: "400638133393112" },
];
const REFUSED = [
  [5, "an error such as #N/A"],
  [7, "The name or the tag is a number that a spreadsheet has rounded"],
  [9, "The id is a shortened number"],
  [11, "The field `id` must be a whole number"],
  [13, "a formula without its result"],
  [15, "The row has no name"],
  [17, "The name or the tag is a number that a spreadsheet has rounded"],
] as const;

describe("a workbook with faults of cells, and texts that look like faults", () => {
  for (const where of ["here", "into a service"] as const) {
    it(`is imported with its rows refused for the same reasons: ${where}`, async () => {
      const folder = temporaryFolder();
      const file = join(folder, "faulty.xlsx");
      writeFileSync(file, FAULTY);
      const service = await startTestService();
      const environment = { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
      const to = where === "here" ? ["--data", join(folder, "faulty")] : [];
      const { status, stdout, stderr } = await runInside(["import", file, "--json", ...to], where === "here" ? {} : environment);
      const { problems, ...counts } = JSON.parse(stdout) as { problems: { line: number; error: number; message: string }[] };
      const exported = await runInside(["export", "-", "--format", "ndjson", ...to], where === "here" ? {} : environment);
      await service.stop();
      expect([status, counts]).toMatchObject([1, { read: 9, created: 2, refused: 7, unusedColumns: ["price"] }]);
      for (const [at, [line, says]] of REFUSED.entries()) {
        expect(problems[at]).toMatchObject({ line, error: 40005 });
        expect(problems[at]?.message).toContain(says);
        expect(stderr).toContain(`:${line}: 40005 ${problems[at]?.message}`);
      }
      expect(exported.stdout).toBe(STORED.map((plant) => `${JSON.stringify(plant)}\n`).join(""));
    });
  }

  it("is shown and imported by the page with the same rows refused, and the refused ones are saved as they are", async () => {
    const service = await startTestService();
    const client = createClient({ url: service.url, token: service.token });
    const checked = await check(FAULTY, "faulty.xlsx");
    const shown = await preview(checked, client, "replace");
    const sent = await send(checked, client, "replace");
    const plants = await (await service.request("/plants")).json();
    await service.stop();
    const expected = REFUSED.map(([line, says]) => ({ line, error: 40005, message: expect.stringContaining(says) }));
    expect(checked.problems).toEqual(expected);
    expect(shown.problems).toEqual(expected);
    expect(sent.problems).toEqual(expected);
    expect(plants).toEqual(STORED);
    const saved = await (await refusedFile(checked, sent.refusedLines)).text();
    expect(saved.split("\n")).toContain("2,#N/A");
    expect(await check(FAULTY, "faulty.xlsx", { ids: { kind: "content" } })).toMatchObject({ refused: REFUSED.length });
  });
});
