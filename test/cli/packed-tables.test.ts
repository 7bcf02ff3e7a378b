import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import type { CellFaults } from "../../src/files/cells.ts";
import { toCsv } from "../../src/files/sheet.ts";
import { openTable } from "../../src/files/table-file.ts";
import type { Table } from "../../src/files/table-file.ts";
import { runInside } from "../support/command.ts";

import { checkFile } from "../../web/import/check-file.ts";
import { previewImport } from "../../web/import/preview.ts";
import type { Preview } from "../../web/import/preview.ts";
import { guessFile } from "../../web/import/guess.ts";
import { openFile } from "../../web/import/open-file.ts";
import { refusedFile } from "../../web/import/slices.ts";
import { NOTHING_SENT, sendFile } from "../../web/import/send-file.ts";
import type { SentSoFar } from "../../web/import/send-file.ts";
import { makeWorkbook, makeZip } from "../support/shelf/workbook.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const NO_GZIP = "The gzip body is incomplete: compress the file again, and send all of it.";
const ROW = '<row r="2"><c r="A2"><v>1</v></c></row>';

const ODS = "application/vnd.oasis.opendocument.spreadsheet";
const ODT = "application/vnd.oasis.opendocument.text";

function workbookOf(rows: string): Buffer {
  return bookOf({ "xl/worksheets/a.xml": `<worksheet><sheetData>${rows}</sheetData></worksheet>` });
}

function bookOf(parts: Readonly<Record<string, string | Uint8Array>>): Buffer {
  return makeZip({
    "xl/workbook.xml": '<workbook><sheets><sheet name="x" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="/xl/worksheets/a.xml"/></Relationships>',
    ...parts,
  });
}

const CELL_OF_TEXT = '<c t="s"><v>0</v></c>';
const ROW_OF_TEXT = `<row>${CELL_OF_TEXT}</row>`;
const ROW_OF_NAMES = `<row><c t="str"><v>id</v></c><c t="str"><v>name</v></c></row>`;

/** A workbook whose cells may all have the one text that they share, of a million letters. */
function sharing(rows: string): Buffer {
  return sheetOf(`<worksheet>${ROW_OF_NAMES}${rows}</worksheet>`, {
    "xl/sharedStrings.xml": `<sst><si><t>${"a".repeat(1_000_000)}</t></si></sst>`,
  });
}

/** A workbook with many sheets, all of them this one. */
function sheetsOf(rows: string, count: number): Buffer {
  const sheets = '<sheet name="x" r:id="r1"/>'.repeat(count);
  return sheetOf(`<worksheet>${rows}</worksheet>`, { "xl/workbook.xml": `<workbook><sheets>${sheets}</sheets></workbook>` });
}

const WHOLE = makeWorkbook([
  ["id", "name"],
  [1, "Acer"],
]);

function sheetOf(xml: string | Uint8Array, others: Readonly<Record<string, string>> = {}): Buffer {
  return bookOf({ "xl/worksheets/a.xml": xml, ...others });
}

/** The same workbook, whose sheet was packed from other bytes: the data itself unpacks well. */
function damaged(at: number, by: number, whole = WHOLE): Buffer {
  const bytes = Buffer.from(whole);
  const entry = bytes.lastIndexOf("PK\x01\x02", bytes.lastIndexOf("xl/worksheets/sheet1.xml"), "latin1");
  bytes.writeUInt32LE((bytes.readUInt32LE(entry + at) + by) % 2 ** 32, entry + at);
  return bytes;
}

/** The text of the sheet of a workbook, as CSV. */
async function csvOf(bytes: Uint8Array): Promise<string> {
  return (await sheetIn(bytes)).text;
}

/** Its text, and its faults as `line:place fault`. */
async function sheetIn(bytes: Uint8Array): Promise<Readonly<{ text: string; faults: readonly string[] }>> {
  const table = await tableOf(bytes);
  const faults = new Map<number, CellFaults>();
  let text = "";
  if ("sheet" in table) for await (const piece of toCsv(table.sheet, faults)) text += Buffer.from(piece).toString();
  return { text, faults: Array.from(faults).flatMap(([line, row]) => Array.from(row, ([at, fault]) => `${line}:${at} ${fault}`)) };
}

async function tableOf(bytes: Uint8Array): Promise<Table> {
  const file = new Blob([Buffer.from(bytes)]);
  return (await openTable("a.xlsx", bytes.subarray(0, 4), { bytes: nothing(), whole: () => Promise.resolve(file) }))!;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

describe("plant-store import refuses", () => {
  for (const { what, name, bytes, says } of [
    { what: "a workbook that is cut off", name: "cut.xlsx", bytes: WHOLE.subarray(0, -60), says: "The file is incomplete" },
    { what: "a workbook with damaged data", name: "bad.xlsx", bytes: Buffer.from(WHOLE).fill(0xff, 60, 140), says: "damaged" },
    { what: "a workbook without a sheet", name: "none.xlsx", bytes: makeZip({ "xl/workbook.xml": "<workbook/>" }), says: "no sheet" },
    { what: "a workbook of an old Excel", name: "old.xls", bytes: Buffer.from("d0cf11e0a1b11ae1", "hex"), says: "old Excel (.xls), or" },
    {
      what: "one with a password",
      name: "secret.xlsx",
      bytes: Buffer.from("d0cf11e0a1b11ae1", "hex"),
      says: "or has a password: save it as .xlsx without one",
    },
    { what: "a binary workbook", name: "a.xlsb", bytes: makeZip({ "xl/workbook.bin": "x" }), says: "(.xlsb): save it as .xlsx" },
    { what: "a spreadsheet of Apple", name: "a.numbers", bytes: makeZip({ "Index/Document.iwa": "x" }), says: "(.numbers): save it as" },
    {
      what: "a web page that is called .xls",
      name: "page.xls",
      bytes: Buffer.from("\ufeff<!DOCTYPE html><table>"),
      says: "HTML or XML: open",
    },
    { what: "a table of HTML", name: "table.xls", bytes: Buffer.from("\n<table border=1>"), says: "HTML or XML: open it in a spreadsheet" },
    { what: "a workbook of Excel 2003 in XML", name: "a.xml", bytes: Buffer.from('<?xml version="1.0"?>'), says: "HTML or XML: open" },
    {
      what: "a database of SQLite",
      name: "data.db",
      bytes: Buffer.from("SQLite format 3\0"),
      says: "is a database: save its table as CSV",
    },
    { what: "a dump of PostgreSQL", name: "a.dump", bytes: Buffer.from("PGDMP\x01\x0e"), says: "is a database: save its table as CSV" },
    { what: "a PDF", name: "a.pdf", bytes: Buffer.from("%PDF-1.7\n"), says: "The file is a PDF: save the table" },
    ...Object.entries({
      png: "\x89PNG",
      jpg: "\xff\xd8\xff\xe0",
      gif: "GIF89a",
      webp: "RIFF\x24\n\0\0WEBPVP8 ",
      avi: "RIFF\x24\x01\0\0AVI LIST",
      tif: "II*\0",
      heic: "\0\0\0\x24ftypheic",
    }).map(([kind, start]) => ({
      what: `a picture or film, ${kind}`,
      name: `a.${kind}`,
      bytes: Buffer.from(start, "latin1"),
      says: "an image or a video, not a",
    })),
    { what: "a document that is no table", name: "a.odt", bytes: makeZip({ "content.xml": "<x/>" }), says: "without a single table" },
    { what: "a spreadsheet of LibreOffice", name: "a.ods", bytes: makeZip({ mimetype: ODS, "content.xml": "<x/>" }), says: "(.ods): save" },
    { what: "a text of LibreOffice", name: "b.odt", bytes: makeZip({ mimetype: ODT, "content.xml": "<x/>" }), says: "without a single" },
    { what: "an archive of two tables", name: "two.zip", bytes: makeZip({ "a.csv": "id", "b.csv": "id" }), says: "without a single table" },
    { what: "a bomb of sheets that are one", name: "sheets.xlsx", bytes: sheetsOf(" ".repeat(400_000), 40), says: "250 times" },
    { what: "a bomb of cells that share a text", name: "cells.xlsx", bytes: sharing(ROW_OF_TEXT.repeat(20)), says: "250 times" },
    { what: "a bomb in one row", name: "row.xlsx", bytes: sharing(`<row>${CELL_OF_TEXT.repeat(5)}</row>`), says: "too long" },
    {
      what: "what curl -d makes of CSV",
      name: "joined.csv",
      bytes: Buffer.from("id,name,tag1,Rosa,wild2,Salix,wet"),
      says: "--data-binary",
    },
    { what: "rows in no order", name: "order.xlsx", bytes: workbookOf(ROW + ROW), says: "out of order" },
    { what: "a row far below", name: "far.xlsx", bytes: workbookOf('<row r="99999999"></row>'), says: "out of order" },
  ]) {
    it(`${what}, and says why`, async () => {
      const file = join(folder, name);
      writeFileSync(file, bytes);
      const { status, stderr, stdout } = await runInside(["import", file, "--data", join(folder, "data")], {});
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(says);
      expect(stderr).not.toContain("    at ");
    });
  }
});

describe("plant-store import reads a list of names whose first one begins like", () => {
  for (const [name, like] of Object.entries({
    "RIFFELBLATT-SALBEI": "a film",
    "GIF8 Rose": "a picture",
    "%PDF": "a PDF",
    SQLite: "a database",
  })) {
    it(`${like}: ${name}`, async () => {
      const file = join(folder, "names.txt");
      writeFileSync(file, `${name}\nAcer\n`);
      const { status, stderr } = await runInside([
        "import",
        file,
        "--data",
        join(folder, like),
        "--no-header",
        "--ids",
        "content",
        "--name-column",
        "column 1",
      ]);
      expect([status, stderr]).toEqual([0, expect.not.stringContaining("no table")]);
    });
  }
});

it("plant-store import reads the one table of an archive that macOS has made", async () => {
  const file = join(folder, "mac.zip");
  const table = "id,name\n1,Acer\n";
  writeFileSync(file, makeZip({ "a.csv": table, "__MACOSX/._a.csv": "\0\x05\x16\x07", ".DS_Store": "\0\0\0\x01Bud1" }));
  const { status, stdout } = await runInside(["import", file, "--data", join(folder, "mac")]);
  expect([status, stdout]).toEqual([0, `${file}: 1 read, 1 created, 0 unchanged, 0 replaced, 0 refused\n`]);
});

it("plant-store import refuses a row with more cells than columns in words that fit a workbook too", async () => {
  const file = join(folder, "more.xlsx");
  writeFileSync(
    file,
    makeWorkbook([
      ["id", "name"],
      [1, "Acer", "tree"],
    ]),
  );
  const { status, stderr } = await runInside(["import", file, "--data", join(folder, "more")]);
  expect(status).toBe(1);
  expect(stderr).toContain(":2: 40009 The row has 3 cells for 2 columns: name a column for each cell, or empty the others. In CSV, ");
});

it("plant-store import reads a workbook as a table, also if its first cell looks like JSON", async () => {
  const file = join(folder, "json.xlsx");
  writeFileSync(
    file,
    makeWorkbook([
      ["[Plant]", "id"],
      ["Acer", 1],
    ]),
  );
  const { status, stdout } = await runInside(["import", file, "--data", join(folder, "json")]);
  expect([status, stdout]).toEqual([0, `${file}: 1 read, 1 created, 0 unchanged, 0 replaced, 0 refused\n`]);
});

describe("plant-store import of a file that is broken behind its first rows", () => {
  const rows = Array.from({ length: 3_000 }, (_, at) => [at, `Plant ${at * 7_919}`] as const);
  const cut = join(folder, "late.csv.gz");
  writeFileSync(cut, gzipSync(`id,name\n${rows.map((row) => row.join(",")).join("\n")}`).subarray(0, -200));
  const bad = join(folder, "late.xlsx");
  writeFileSync(bad, damaged(16, 1, makeWorkbook([["id", "name"], ...rows])));

  for (const { file, says } of [
    { file: cut, says: NO_GZIP },
    { file: bad, says: "The file is damaged: save it again." },
  ]) {
    it(`says how many rows a data folder has stored, or would have in a dry run: ${basename(file)}`, async () => {
      const data = join(temporaryFolder(), "data");
      const first = await runInside(["import", file, "--data", data]);
      expect([first.status, first.stdout]).toEqual([1, ""]);
      const counts = "2000 read, 2000 created, 0 unchanged, 0 replaced, 0 refused";
      expect(first.stderr).toContain(`\n${file}: ${counts} before it failed\nplant-store: ${says}`);
      const exported = await runInside(["export", "--data", data]);
      expect(exported.stdout.trimEnd().split("\n")).toHaveLength(2_000);
      const dry = await runInside(["import", file, "--data", data, "--dry-run"]);
      expect(dry.stderr).toStartWith(`${file}: dry run: 2000 read, 0 created, 2000 unchanged`);
    });

    it(`says that a service may have stored some, but not of a dry run: ${basename(file)}`, async () => {
      const service = await startTestService();
      const environment = { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
      expect((await runInside(["import", file, "--dry-run"], environment)).stderr).toBe(`plant-store: ${says}\n`);
      const { status, stderr } = await runInside(["import", file], environment);
      const doubt = "Rows before that may be stored: it is safe to import the file again.";
      expect([status, stderr]).toEqual([1, `plant-store: ${says} ${doubt}\n`]);
      await service.stop();
    });
  }
});

describe("a workbook is refused", () => {
  const xml = `<worksheet><sheetData>${ROW}<row r="3"><c t="inlineStr"><is><t>é</t></is></c></row></sheetData></worksheet>`;
  const list = "<sst><si><t>a</t></si></sst>";
  const cell = (place: string) => `<worksheet><sheetData><row><c t="s"><v>${place}</v></c></row></sheetData></worksheet>`;
  for (const { what, bytes, says } of [
    { what: "whose data has another CRC-32", bytes: damaged(16, 1), says: "The file is damaged" },
    { what: "whose data has another length", bytes: damaged(24, 1), says: "The file is damaged" },
    { what: "whose directory ends in a name", bytes: damaged(28, 60_000), says: "The file is damaged" },
    { what: "whose sheet is not closed", bytes: sheetOf(xml.slice(0, -12)), says: "The workbook is incomplete" },
    { what: "whose sheet ends in a row", bytes: sheetOf(xml.slice(0, -40)), says: "The workbook is incomplete" },
    { what: "whose texts are not closed", bytes: sheetOf(xml, { "xl/sharedStrings.xml": list.slice(0, -6) }), says: "incomplete" },
    { what: "in Latin-1", bytes: sheetOf(Buffer.from(xml, "latin1")), says: "not UTF-8" },
    { what: "in UTF-16", bytes: sheetOf(Buffer.from(`\ufeff${xml}`, "utf16le")), says: "not UTF-8" },
    { what: "that says it is in another encoding", bytes: sheetOf(`<?xml version="1.0" encoding='ISO-8859-1'?>${xml}`), says: "not UTF-8" },
    { what: "that ends in a letter", bytes: sheetOf(Buffer.concat([Buffer.from(xml), Buffer.of(0xc3)])), says: "not UTF-8" },
    { what: "with a text behind the last", bytes: sheetOf(cell("1"), { "xl/sharedStrings.xml": list }), says: "A cell names a text" },
    { what: "with a cell behind XFD", bytes: workbookOf('<row><c r="XFE1"/></row>'), says: "a cell XFE1, which Excel" },
    { what: "with a cell far behind", bytes: workbookOf('<row><c r="AAAAA1"><v>1</v></c></row>'), says: "a cell AAAAA1" },
    { what: "of comments without an end", bytes: workbookOf("<!--".repeat(500_000)), says: "The workbook is incomplete" },
    { what: "that ends in a comment", bytes: workbookOf(`${ROW}<!-- `), says: "The workbook is incomplete" },
    { what: "with a text before the first", bytes: sheetOf(cell("-1"), { "xl/sharedStrings.xml": list }), says: "A cell names a text" },
  ]) {
    it(what, async () => {
      expect(await csvOf(bytes).catch(String)).toStartWith("TableError: ");
      expect(await csvOf(bytes).catch(String)).toContain(says);
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
    expect((await tableOf(book)).notes).toEqual(["only the sheet s3 is read, not s0, s1, s2, s4"]);
  });

  it("refuses a row with an error, or a formula without its result, in a cell that is imported, and no other", async () => {
    const text = (place: string, value: string) => `<c r="${place}" t="inlineStr"><is><t>${value}</t></is></c>`;
    const broken = ['<c t="e"><v>#N/A</v></c>', "<c><f>B1</f></c>", '<c t="str"><f>B1</f></c>', '<c><f t="x">B1</f><v/></c>'];
    const rows = broken.flatMap((cell, at) => {
      const place = (column: string) => cell.replace("<c", `<c r="${column}1"`);
      return [
        `<c><v>${at}</v></c>${text("B1", "fine")}${place("D1")}`,
        `<c><v>9</v></c>${place("B1")}`,
        `<c><v>9</v></c>${text("B1", "x")}${place("C1")}`,
        `${place("A1")}${text("B1", "x")}`,
      ];
    });
    const header = ["id", "name", "tag", "price"].map((name, at) => text(`${"ABCD"[at]}1`, name)).join("");
    const file = join(folder, "errors.xlsx");
    writeFileSync(file, workbookOf([header, ...rows].map((cells, at) => `<row r="${at + 1}">${cells}</row>`).join("")));
    const { status, stdout, stderr } = await runInside(["import", file, "--data", join(folder, "errors")], {});
    expect([status, stdout]).toEqual([1, `${file}: 16 read, 4 created, 0 unchanged, 0 replaced, 12 refused\n`]);
    // No more are shown.
    expect(stderr.match(/an error such as #N\/A, a formula without its result, or half of a letter/g)).toHaveLength(10);
    expect(stderr).toContain("not imported: the column price");
  });

  /** More digits than a double has room for. */
  const LONG = "9".repeat(400);

  it("keeps the digits of numbers, and says which of them Excel has rounded", async () => {
    const values = [
      "9007199254740993",
      "9007199254740992",
      "-1E+3",
      "4.006381333931E12",
      "0.30000000000000004",
      "123456789012345678",
      "1234567890123457000",
      "-1234567890123456800",
      LONG,
    ];
    const rows = values.map((value, at) => `<row r="${at + 1}"><c><v>${value}</v></c></row>`);
    const { text, faults } = await sheetIn(workbookOf(rows.join("")));
    expect(faults).toEqual(["2:0 rounded", "7:0 rounded", "8:0 rounded"]);
    expect(text.trimEnd().split("\n")).toEqual([
      "9007199254740993",
      "9007199254740992 (rounded to 15 digits by Excel)",
      "-1000",
      "4006381333931",
      "0.30000000000000004",
      "123456789012345678",
      "1234567890123457000 (rounded to 15 digits by Excel)",
      "-1234567890123456800 (rounded to 15 digits by Excel)",
      LONG,
    ]);
  });

  it("refuses a name or a tag that is a number which Excel has rounded", async () => {
    const file = join(folder, "numbers.xlsx");
    const [rounded, kept] = [4_006_381_333_931_120, 400_638_133_393_112];
    writeFileSync(
      file,
      makeWorkbook([
        ["id", "name", "tag", "price"],
        [1, rounded],
        [2, "Acer", rounded],
        [3, kept, kept, rounded],
      ]),
    );
    const { status, stdout, stderr } = await runInside(["import", file, "--data", join(folder, "numbers")]);
    expect([status, stdout]).toEqual([1, `${file}: 3 read, 1 created, 0 unchanged, 0 replaced, 2 refused\n`]);
    expect(stderr).toContain(`:2: 40005 The name or the tag is a number that a spreadsheet has rounded`);
    expect(stderr).toContain(`:3: 40005 The name or the tag is a number that a spreadsheet has rounded`);
  });

  it("takes a 0 for no result where its program left the formulas to the next one", async () => {
    const rows = '<row><c><f>B1</f><v>0</v></c><c><v>0</v></c><c t="str"><f>B1</f><v>x</v></c></row>';
    const sheets = '<sheets><sheet name="x" r:id="r1"/></sheets>';
    const read = (calc: string) =>
      sheetIn(sheetOf(`<worksheet>${rows}</worksheet>`, { "xl/workbook.xml": `<workbook>${sheets}<calcPr ${calc}/></workbook>` }));
    expect(await read('calcId="124519" fullCalcOnLoad="1"')).toEqual({ text: "?,0,x\n", faults: ["1:0 error"] });
    expect(await read('calcId="124519" fullCalcOnLoad="0"')).toEqual({ text: "0,0,x\n", faults: [] });
  });

  it("takes half of a letter for an error, as LEFT() leaves it of an emoji", async () => {
    const cell = (text: string) => `<c t="str"><v>${text}</v></c>`;
    const read = await sheetIn(workbookOf(`<row>${cell("a_xD83C_")}${cell("_xD83C__xDF3F_")}</row>`));
    expect(read).toEqual({ text: "a\ufffd,🌿\n", faults: ["1:0 error"] });
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
  ]
    .reduce<string[]>((rows, row, at) => (at < 4 ? [`${rows[0] ?? ""}${row}`] : [...rows, row]), [])
    .map((cells, at) => `<row r="${at * 2 + 1}">${cells}</row>`)
    .join(""),
);
const STORED = [
  { id: 1, name: "\ufdd0#N/A", tag: "1 (rounded to 15 digits by Excel)" },
  { id: 5, name: "#N/A" },
];
const REFUSED = [
  [5, "an error such as #N/A"],
  [7, "The name or the tag is a number that a spreadsheet has rounded"],
  [9, "The id is a shortened number"],
  [11, "The field `id` must be a whole number"],
  [13, "a formula without its result"],
] as const;

describe("a workbook with faults of cells, and texts that look like faults", () => {
  for (const where of ["here", "into a service"] as const) {
    it(`is imported with its rows refused for the same reasons: ${where}`, async () => {
      const file = join(folder, "faulty.xlsx");
      writeFileSync(file, FAULTY);
      const service = await startTestService();
      const environment = { PLANT_STORE_URL: service.url, PLANT_STORE_TOKEN: service.token };
      const to = where === "here" ? ["--data", join(folder, "faulty")] : [];
      const { status, stdout, stderr } = await runInside(["import", file, "--json", ...to], where === "here" ? {} : environment);
      const { problems, ...counts } = JSON.parse(stdout) as { problems: { line: number; error: number; message: string }[] };
      const exported = await runInside(["export", "-", "--format", "ndjson", ...to], where === "here" ? {} : environment);
      await service.stop();
      expect([status, counts]).toMatchObject([1, { read: 7, created: 2, refused: 5, unusedColumns: ["price"] }]);
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
    const { signal } = new AbortController();
    const { file, ...opened } = await openFile(new File([FAULTY], "faulty.xlsx"));
    const checked = await guessFile(file, { ...opened, signal });
    let preview: Preview | undefined;
    let sent: SentSoFar = NOTHING_SENT;
    await previewImport(checked, { client, onConflict: "replace", signal, onPreview: (next) => (preview = next) });
    await sendFile(checked, NOTHING_SENT, { client, onConflict: "replace", signal, onProgress: (next) => (sent = next) });
    const plants = await (await service.request("/plants")).json();
    await service.stop();
    const expected = REFUSED.map(([line, says]) => ({ line, error: 40005, message: expect.stringContaining(says) }));
    expect(checked.problems).toEqual(expected);
    expect(preview?.problems).toEqual(expected);
    expect(sent.problems).toEqual(expected);
    expect(plants).toEqual(STORED);
    const saved = await refusedFile(checked, sent.refusedLines).text();
    expect(saved.split("\n")).toContain("2,#N/A");
    expect(await checkFile(file, { ...opened, signal, csv: { ...checked.csv, ids: { kind: "content" } } })).toMatchObject({ refused: 5 });
  });
});

describe("a table in gzip that is imported into a service", () => {
  it("is sent as it is, and the service finds the same in it as the command", async () => {
    const file = join(folder, "sent.csv.gz");
    const packed = gzipSync("id,scientificName\n9223372036854775807,Acer\n");
    writeFileSync(file, packed);
    const service = await startTestService();
    const seen: Array<readonly [encoding: string | null, bytes: Uint8Array]> = [];
    const proxy = Bun.serve({
      port: 0,
      async fetch({ url, headers, body }) {
        const bytes = new Uint8Array(await new Response(body).arrayBuffer());
        seen.push([headers.get("content-encoding"), bytes]);
        const { pathname, search } = new URL(url);
        return fetch(`${service.url}${pathname}${search}`, { method: "POST", headers, body: bytes });
      },
    });
    const environment = { PLANT_STORE_URL: proxy.url.href, PLANT_STORE_TOKEN: service.token };
    const sent = await runInside(["import", file], environment);
    const here = await runInside(["import", file, "--data", join(folder, "sent")]);
    await proxy.stop(true);
    await service.stop();
    expect(seen).toEqual([["gzip", new Uint8Array(packed)]]);
    expect(sent).toEqual({ ...here, stderr: here.stderr.replace(/^Created.*\n/, "") });
    expect(sent.stdout).toContain("1 read, 1 created");
  });
});
