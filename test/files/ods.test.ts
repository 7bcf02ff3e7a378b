import { describe, expect, it } from "bun:test";
import { openOds } from "../../src/files/workbook/ods.ts";
import type { Sheet, Workbook } from "../../src/files/workbook/workbook.ts";
import { openZip } from "../../src/files/zip.ts";
import { makeZip } from "../support/shelf/workbook.ts";

const STYLES =
  '<office:automatic-styles><style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>';

/** A spreadsheet of these tables, as LibreOffice writes them: each ends with a million empty rows. */
async function bookOf(...tables: readonly string[]): Promise<Workbook> {
  const end =
    '<table:table-row table:number-rows-repeated="1048500"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>';
  const xml = tables.map(
    (rows, at) => `<table:table table:name="s${at}" table:style-name="ta${at}"><table:table-column/>${rows}${end}</table:table>`,
  );
  const content = `<?xml version="1.0" encoding="UTF-8"?><office:document-content>${STYLES}<office:body><office:spreadsheet>${xml.join("")}<table:named-expressions/></office:spreadsheet></office:body></office:document-content>`;
  const file = new Blob([Buffer.from(makeZip({ mimetype: "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content }))]);
  return openOds(file, await openZip(file));
}

async function rowsOf({ rows }: Sheet) {
  return (await Array.fromAsync(rows())).flat();
}

/** Its rows as `line: cells`, with the fault of a cell behind it. */
async function linesOf(sheet: Sheet): Promise<string[]> {
  const rows = await rowsOf(sheet);
  return rows.map(
    ({ line, cells, faults }) =>
      `${line}: ${cells.map((text = "", at) => (faults?.has(at) ? `${text} ${faults.get(at)}` : text)).join("|")}`,
  );
}

async function cellOf(xml: string): Promise<string | undefined> {
  const { sheets } = await bookOf(row(xml));
  return (await linesOf(sheets[0]!))[0]?.slice("1: ".length);
}

function row(...cells: readonly string[]): string {
  return `<table:table-row>${cells.join("")}</table:table-row>`;
}

function cell(shown: string, attributes = 'office:value-type="string"'): string {
  return `<table:table-cell ${attributes}><text:p>${shown}</text:p></table:table-cell>`;
}

/** A row with a cell in the last column that there can be. */
const FAR = ['<table:table-cell table:number-columns-repeated="16383"/>', cell("a")];

describe("a spreadsheet of OpenDocument", () => {
  it("has all its sheets, also hidden ones, which can be read in any order, and again", async () => {
    const { sheets } = await bookOf(row(cell("Read me")), row(cell("Acer")), row(cell("Old")));
    expect(sheets.map(({ name, isVisible }) => [name, isVisible])).toEqual([
      ["s0", true],
      ["s1", true],
      ["s2", false],
    ]);
    for (const [at, lines] of [
      [2, "1: Old"],
      [0, "1: Read me"],
      [1, "1: Acer"],
      [2, "1: Old"],
    ] as const)
      expect(await linesOf(sheets[at]!)).toEqual([lines]);
  });

  it("has sheets of which one is chosen, though forty come behind many rows", async () => {
    const many = Array.from({ length: 5_000 }, (_, at) => row(cell(`note ${at * 7_919}`)));
    const others = Array.from({ length: 40 }, (_, at) => `to do ${at}`);
    const { sheets } = await bookOf(many.join(""), ...others.map((text) => row(cell(text))));
    const first: unknown[] = [];
    for (const { rows, isVisible } of sheets) {
      for await (const [top] of isVisible ? rows() : []) {
        first.push(top?.cells[0]);
        // One is left in the middle, the others are read to their ends.
        if (first.length === 1) break;
      }
    }
    expect(first).toEqual(["note 0", ...others.filter((_, at) => at !== 1)]);
    expect(await linesOf(sheets[20]!)).toEqual(["1: to do 19"]);
    expect(await linesOf(sheets[0]!)).toHaveLength(5_000);
  });

  it("has rows and cells as often as they are repeated, and the lines of its rows", async () => {
    const empty = '<table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row>';
    const twice = `<table:table-row table:number-rows-repeated="2">${cell("a", 'table:number-columns-repeated="3"')}</table:table-row>`;
    const { sheets } = await bookOf(`<table:table-header-rows>${row(cell("x"))}</table:table-header-rows>${empty}${twice}`);
    expect(await linesOf(sheets[0]!)).toEqual(["1: x", "4: a|a|a", "5: a|a|a"]);
  });

  it("has rows as wide as a sheet few at a time, also where one is repeated", async () => {
    const wide = `<table:table-row table:number-rows-repeated="100">${FAR.join("")}</table:table-row>`;
    const { sheets } = await bookOf(wide);
    const batches = await Array.fromAsync(sheets[0]!.rows());
    expect(batches.map((rows) => rows.map(({ cells }) => cells.length))).toEqual(Array.from({ length: 100 }, () => [16_384]));
  });

  it("says which of its rows are hidden, by hand or by a filter", async () => {
    const hidden = (how: string) => `<table:table-row table:visibility="${how}">${cell(how)}</table:table-row>`;
    const { sheets } = await bookOf(row(cell("shown")) + ["visible", "collapse", "filter"].map(hidden).join(""));
    const rows = await rowsOf(sheets[0]!);
    expect(rows.filter(({ isHidden }) => isHidden).map(({ cells }) => cells[0])).toEqual(["collapse", "filter"]);
  });

  it("has merged cells with what they show in all of their area", async () => {
    const first = cell("Rosaceae", 'table:number-columns-spanned="2" table:number-rows-spanned="2"');
    const { sheets } = await bookOf(
      row(first, "<table:covered-table-cell/>", cell("1")) +
        row('<table:covered-table-cell table:number-columns-repeated="2"/>', cell("2")),
    );
    expect(await linesOf(sheets[0]!)).toEqual(["1: Rosaceae|Rosaceae|1", "2: Rosaceae|Rosaceae|2"]);
  });

  for (const [what, xml, wanted] of [
    ["a text", cell('a<text:s text:c="2"/>b &amp; <text:span>c</text:span>'), "a  b & c"],
    ["several paragraphs", "<table:table-cell><text:p>a</text:p><text:p>b</text:p></table:table-cell>", "a b"],
    [
      "a text with a note",
      `<table:table-cell><office:annotation><text:p>note</text:p></office:annotation><text:p>a</text:p></table:table-cell>`,
      "a",
    ],
    [
      "a text below boxes with text, also one in another",
      `<table:table-cell><draw:frame><draw:text-box><text:p>box<draw:frame><draw:text-box><text:p>inside</text:p></draw:text-box></draw:frame></text:p><text:p>behind</text:p></draw:text-box></draw:frame><text:p>a</text:p><draw:line/><draw:g><draw:g><draw:custom-shape><text:p>shape</text:p></draw:custom-shape></draw:g></draw:g></table:table-cell>`,
      "a",
    ],
    [
      "a text with hints for its pronunciation",
      cell("<text:ruby><text:ruby-base>桜</text:ruby-base><text:ruby-text>さくら</text:ruby-text></text:ruby>"),
      "桜",
    ],
    ["a number as it is shown", cell("1.10", 'office:value-type="float" office:value="1.1"'), "1.10"],
    ["a number with zeros before it", cell("0012", 'office:value-type="float" office:value="12"'), "0012"],
    ["an id with separators, of any language", cell("1.234.567", 'office:value-type="float" office:value="1234567"'), "1234567"],
    ["a number in a cell that is too narrow", cell("###", 'office:value-type="float" office:value="12"'), "12 doubtful"],
    ["a power of ten", cell("1.2E+06", 'office:value-type="float" office:value="1234567"'), "1234567 doubtful"],
    [
      "a rounded id",
      cell("4.00638133393112E+015", 'office:value-type="float" office:value="4006381333931120"'),
      "4006381333931120 (rounded to 15 digits) rounded",
    ],
    ["a date", cell("03.05.25", 'office:value-type="date" office:date-value="2025-05-03"'), "2025-05-03"],
    ["a time", cell("14:05", 'office:value-type="time" office:time-value="PT14H05M00S"'), "14:05"],
    ["an error", cell("#N/A", 'office:value-type="string" calcext:value-type="error"'), "#N/A error"],
  ] as const)
    it(`has ${what}`, async () => {
      expect(await cellOf(xml)).toBe(wanted);
    });

  for (const [what, rows, says] of [
    [
      "a row is repeated without limit",
      `<table:table-row table:number-rows-repeated="99999999">${cell("a")}</table:table-row>`,
      "more rows than",
    ],
    [
      "a long row is repeated",
      `<table:table-row table:number-rows-repeated="10000">${cell("a".repeat(1_000))}</table:table-row>`,
      "250 times",
    ],
    [
      "rows are repeated as in a column that is filled to the end",
      `<table:table-row table:number-rows-repeated="10000">${cell("a")}</table:table-row>`.repeat(2),
      "repeats rows more than 10000 times",
    ],
    ["many rows are wide", row(...FAR).repeat(700), "250 times"],
    ["a cell is repeated without limit", row(cell("a", 'table:number-columns-repeated="99999999"')), "too long"],
    ["something is repeated less than once", row(cell("a", 'table:number-columns-repeated="-1"')), "damaged"],
  ] as const)
    it(`is refused where ${what}`, async () => {
      const { sheets } = await bookOf(rows);
      expect(await linesOf(sheets[0]!).catch(String)).toContain(says);
    });

  it("is refused where it has a password", async () => {
    const manifest = '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>';
    const file = new Blob([Buffer.from(makeZip({ "META-INF/manifest.xml": manifest, "content.xml": "\xff\xfe" }))]);
    expect(await openOds(file, await openZip(file)).catch(String)).toContain("has a password");
  });
});
