import { describe, expect, it } from "bun:test";
import type { Sheet, Workbook } from "../../src/files/workbook/workbook.ts";
import { openWorkbook } from "../../src/files/workbook/xlsx.ts";
import { openZip } from "../../src/files/zip.ts";
import { makeZip } from "../support/shelf/workbook.ts";
import { plantsIn, readHere } from "../support/tables/read-here.ts";

const STRICT = 'xmlns="http://purl.oclc.org/ooxml/spreadsheetml/main" xmlns:r="http://purl.oclc.org/ooxml/officeDocument/relationships"';

type Parts = Readonly<{
  formats?: readonly (string | number)[];
  behind?: string;
  head?: string;
  others?: Readonly<Record<string, string>>;
}>;

/** A workbook of these rows. Style 1 is the first of these formats, which are codes, or numbers of those that are built in. */
function bookOf(rows: string, parts: Parts = {}): Promise<Workbook> {
  return open(bytesOf(rows, parts));
}

function bytesOf(rows: string, { formats = [], behind = "", head = "", others = {} }: Parts = {}): Uint8Array {
  const own = formats.map((code, at) => (typeof code === "number" ? "" : `<numFmt numFmtId="${164 + at}" formatCode='${code}'/>`));
  const styles = [0, ...formats].map((code, at) => `<xf numFmtId="${typeof code === "number" ? code : 163 + at}"/>`);
  return makeZip({
    "xl/workbook.xml": `<workbook ${STRICT}>${head}<sheets><sheet name="x" r:id="r1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Target="/xl/worksheets/a.xml" Id="r1"/></Relationships>',
    "xl/styles.xml": `<styleSheet><numFmts>${own.join("")}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs>${styles.join("")}</cellXfs></styleSheet>`,
    "xl/worksheets/a.xml": `<worksheet ${STRICT}><sheetData>${rows}</sheetData>${behind}</worksheet>`,
    ...others,
  });
}

async function open(bytes: Uint8Array): Promise<Workbook> {
  const file = new Blob([Buffer.from(bytes)]);
  return openWorkbook(file, await openZip(file));
}

async function rowsOf({ rows }: Sheet) {
  return (await Array.fromAsync(rows())).flat();
}

/** The cells of its rows, with the fault of a cell behind it. */
async function cellsOf({ sheets: [sheet] }: Workbook): Promise<string[][]> {
  const rows = await rowsOf(sheet!);
  return rows.map(({ cells, faults }) => cells.map((cell = "", at) => (faults?.has(at) ? `${cell} ${faults.get(at)}` : cell)));
}

function merged(...areas: readonly string[]): string {
  return `<mergeCells>${areas.map((area) => `<mergeCell ref="${area}"/>`).join("")}</mergeCells>`;
}

const text = (value: string) => `<c t="str"><v>${value}</v></c>`;

describe("a cell of a workbook", () => {
  it("is shown in the format of its style", async () => {
    const formats = ["000", 14, 20, 9, 27, 12];
    const values = ["1.1000000000000001", "7", "45780", "45780.586805556", "0.25", "45780", "1.5"];
    const cells = values.map((value, at) => `<c s="${at}"><v>${value}</v></c>`);
    const book = await bookOf(`<row>${cells.join("")}</row>`, { formats });
    expect(await cellsOf(book)).toEqual([["1.1", "007", "2025-05-03", "14:05", "25%", "2025-05-03", "1.5 doubtful"]]);
  });

  it("keeps the digits of an id that is longer than a double, and says if Excel has rounded it, in any format", async () => {
    const values = ["9007199254740993", "9007199254740993", "9007199254740992"];
    const book = await bookOf(`<row>${values.map((value, at) => `<c s="${at}"><v>${value}</v></c>`).join("")}</row>`, {
      formats: [14, "0"],
    });
    const rounded = "9007199254740992 (rounded to 15 digits by Excel) rounded";
    expect(await cellsOf(book)).toEqual([["9007199254740993", "9007199254740993 doubtful", rounded]]);
  });

  it("is a date of Strict OOXML, of 1904, or a truth, in any prefix and without addresses", async () => {
    const cells = [
      '<x:c t="d"><x:v>2025-05-03T00:00:00.000Z</x:v></x:c>',
      '<x:c t="d"><x:v>2025-05-03T14:05:00Z</x:v></x:c>',
      '<x:c s="1"><x:f t="shared" si="0"/><x:v>44318</x:v></x:c>',
      '<x:c t="b"><x:v>1</x:v></x:c>',
    ];
    const book = await bookOf(`<x:row>${cells.join("")}</x:row>`, { formats: [14], head: '<x:workbookPr date1904="1"/>' });
    expect(await cellsOf(book)).toEqual([["2025-05-03", "2025-05-03 14:05", "2025-05-03", "TRUE"]]);
  });
});

describe("merged cells", () => {
  it("fill their area downwards, but no row that has nothing else", async () => {
    const rows = `<row r="1">${text("Sapindaceae")}${text("Acer palmatum")}</row><row r="2"/><row r="3"><c r="B3"><v>2</v></c></row>`;
    const book = await bookOf(`${rows}<row r="4"><c r="B4"><v>3</v></c></row>`, { behind: merged("A1:A3") });
    expect(await cellsOf(book)).toEqual([["Sapindaceae", "Acer palmatum"], [], ["Sapindaceae", "2"], ["", "3"]]);
  });

  it("fill it sideways, and say which cells only repeat the one beside them", async () => {
    const book = await bookOf(`<row>${text("My plants")}</row><row><c r="A2"><v>1</v></c><c r="D2"><v>4</v></c></row>`, {
      behind: merged("A1:C2"),
    });
    const rows = await rowsOf(book.sheets[0]!);
    expect(rows.map(({ cells }) => cells)).toEqual([Array(3).fill("My plants"), [...Array<string>(3).fill("My plants"), "4"]]);
    expect(rows.map(({ repeated }) => [...(repeated ?? [])])).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it("fill it with an error, too, and with nothing if its first cell is empty", async () => {
    const broken = '<row><c t="e"><v>#N/A</v></c><c/></row><row><c r="C2"><v>2</v></c></row>';
    const book = await bookOf(broken, { behind: merged("A1:A2", "B1:B2") });
    expect(await cellsOf(book)).toEqual([["#N/A error"], ["#N/A error", "", "2"]]);
  });

  it("take neither memory nor time where one area is a whole sheet", async () => {
    const numbers = Array.from({ length: 3 }, (_, at) => `<row r="${at * 500_000 + 1}"><c><v>1</v></c></row>`);
    const book = await bookOf(numbers.join(""), { behind: merged("A1:XFD1048576") });
    expect((await cellsOf(book)).map((cells) => cells.length)).toEqual([256, 256, 256]);
  });

  for (const [what, areas, says] of [
    ["fill more than 250 times the size of the file", Array<string>(40).fill("A1:XFD1048576"), "250 times"],
    ["are more than a sheet has", Array<string>(200_001).fill("A1:A2"), "too many merged cells"],
    ["lie behind the last column", ["A1:XFE1"], "which Excel cannot hold"],
  ] as const)
    it(`are refused if they ${what}`, async () => {
      const rows = Array<string>(2_000).fill("<row><c><v>1</v></c></row>").join("");
      const book = await bookOf(rows, { behind: merged(...areas) });
      expect(await cellsOf(book).catch(String)).toContain(says);
    });

  it("are refused if thousands lie over each other, though the rows below are blank", async () => {
    const book = await bookOf(`<row>${text("a")}</row>${"<row/>".repeat(2_000)}`, {
      behind: merged(...Array<string>(8_000).fill("A1:A1048576")),
    });
    expect(await cellsOf(book).catch(String)).toContain("250 times");
  });

  it("are found wherever the file is cut into pieces, and beside other parts of a sheet", async () => {
    const rows = Array.from(
      { length: 20_000 },
      (_, at) => `<row r="${at + 1}">${at % 2 === 0 ? text(`Family ${at * 7_919}`) : ""}<c r="B${at + 1}"><v>${at}</v></c></row>`,
    );
    const areas = rows.flatMap((_, at) => (at % 2 === 0 ? [`A${at + 1}:A${at + 2}`] : []));
    const book = await bookOf(rows.join(""), {
      behind: `<sheetProtection/>${merged(...areas)}<hyperlinks><hyperlink ref="A1"/></hyperlinks>`,
    });
    const cells = await cellsOf(book);
    expect(cells).toEqual(rows.map((_, at) => [`Family ${(at - (at % 2)) * 7_919}`, String(at)]));
  });
});

/** Rows with a cell in the last column that there can be. */
function farRows(count: number): string {
  return '<row><c r="XFD"><v>1</v></c></row>'.repeat(count);
}

describe("rows of a workbook", () => {
  for (const [what, areas] of [
    ["as a sheet", []],
    ["as an area over a sheet", ["A1:XFC1048576"]],
  ] as const)
    it(`come few at a time where they are as wide ${what}`, async () => {
      const book = await bookOf(`<row>${text("a")}</row>${farRows(400)}`, { behind: merged(...areas) });
      const batches = await Array.fromAsync(book.sheets[0]!.rows());
      const cells = batches.map((rows) => rows.reduce((sum, row) => sum + row.cells.length, 0));
      expect(cells.reduce((sum, some) => sum + some, 0)).toBeGreaterThan(400 * 16_384);
      expect(Math.max(...cells)).toBeLessThan(20_000);
    });

  for (const [what, rows, says] of [
    ["are wide, and the file is small", farRows(700), "250 times"],
    ["are many, and the file is small", "<row><c><v>1</v></c></row>".repeat(120_000), "250 times"],
    ["are longer than a million characters of XML", `<row>${" ".repeat(1_000_001)}</row>`, "a row that is too long"],
  ] as const)
    it(`are refused if they ${what}`, async () => {
      expect(await cellsOf(await bookOf(rows)).catch(String)).toContain(says);
    });

  it("are read behind three megabytes of other things", async () => {
    const rows = `${" ".repeat(3_200_000)}<row>${text("Acer")}</row>${" ".repeat(2_000_000)}<row>${text("Rosa")}</row>`;
    expect(await cellsOf(await bookOf(rows))).toEqual([["Acer"], ["Rosa"]]);
  });

  it("are read where they are hidden, and their number is named", async () => {
    const plant = (at: number, how: string) => `<row r="${at}"${how}>${text(`Rosa canina ${at}`)}</row>`;
    const rows = [plant(2, ""), plant(3, ' hidden="1"'), plant(4, ' ht="0" customHeight="1"'), '<row r="5" hidden="1"/>'];
    const bytes = bytesOf(`<row r="1">${text("Name")}</row>${rows.join("")}`);
    const read = await readHere(bytes);
    expect(plantsIn(read.rows).map(({ line }) => line)).toEqual([2, 3, 4]);
    expect(read.findings.doubts).toContainEqual({ message: "2 rows are hidden in the spreadsheet: they are imported too." });
  });
});

describe("every sheet of a workbook", () => {
  const hidden = {
    "xl/workbook.xml": `<workbook><sheets><sheet name="Read me" r:id="a"/><sheet name="Old" state="veryHidden" r:id="b"/><sheet name="Chart" r:id="c"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": ["worksheets/a.xml", "/xl/worksheets/b.xml", "chartsheets/c.xml"]
      .map((path, at) => `<Relationship Id="${"abc"[at]}" Target="${path}"/>`)
      .join(""),
    "xl/worksheets/b.xml": `<worksheet><sheetData><row>${text("Gentiana verna")}</row></sheetData></worksheet>`,
  };

  it("can be read, also hidden ones, and again", async () => {
    const { sheets } = await bookOf(`<row>${text("How to")}</row>`, { others: hidden });
    expect(sheets.map(({ name, isVisible }) => [name, isVisible])).toEqual([
      ["Read me", true],
      ["Old", false],
    ]);
    for (const _ of [1, 2]) expect(await cellsOf({ sheets: sheets.slice(1) })).toEqual([["Gentiana verna"]]);
  });

  it("may be read again as often as people choose, though it has grown to most of what a file may", async () => {
    const spaces = `<row>${" ".repeat(100_000)}</row>`.repeat(60);
    const { sheets } = await bookOf(`<row>${text("a")}</row>${spaces}`);
    for (const _ of [1, 2, 3]) expect((await cellsOf({ sheets }))[0]).toEqual(["a"]);
  });

  it("is refused with the others if all together grow too much", async () => {
    const count = 40;
    const sheets = '<sheet name="x" r:id="r1"/>'.repeat(count);
    const book = await bookOf(" ".repeat(400_000), { others: { "xl/workbook.xml": `<workbook><sheets>${sheets}</sheets></workbook>` } });
    const read = Promise.all(book.sheets.map(rowsOf)).catch(String);
    expect(await read).toContain("250 times");
  });

  it("is found where the workbook has a number in its name, as Excel on the web writes it", async () => {
    const parts = {
      "xl/workbook2.xml": '<workbook><sheets><sheet name="Plants" r:id="r1"/></sheets></workbook>',
      "xl/_rels/workbook2.xml.rels": '<Relationship Id="r1" Target="worksheets/a.xml"/>',
      "xl/worksheets/a.xml": `<worksheet><sheetData><row>${text("Acer")}</row></sheetData></worksheet>`,
    };
    expect(await cellsOf(await open(makeZip(parts)))).toEqual([["Acer"]]);
  });
});
