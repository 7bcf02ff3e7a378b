import { checkGrowth } from "./packed-file.ts";
import { TableError } from "./table-error.ts";
import { attribute, ELEMENT_LENGTH_MAX, elementsIn, elementsOf, tagsIn, TOO_LONG, unescape } from "./xml.ts";
import { textOf, unpack } from "./zip.ts";
import type { Zip } from "./zip.ts";
import type { Cell, CellFault, CellRow } from "./cells.ts";
import type { SheetRows } from "./sheet.ts";

/** The first visible sheet of a workbook with anything in it. */
export type Sheet = Readonly<{
  name: string;
  others: readonly string[];
  rows: SheetRows;
}>;

const WORKBOOK = "xl/workbook.xml";
const STRINGS = "xl/sharedStrings.xml";

/** In characters. */
const WORKBOOK_LENGTH_MAX = 1_000_000;
const STRINGS_LENGTH_MAX = 200_000_000;

/** Excel keeps so many digits of a number and rounds the others. */
const DIGITS_EXACT = 15;

export function isXlsx(zip: Zip): boolean {
  return zip.has(WORKBOOK);
}

/**
 * Opens the first sheet of an .xlsx file (ECMA-376) that is visible and not empty. Rows are read as they are taken; only
 * the texts that cells share are kept. Throws a TableError.
 */
export async function openSheet(file: Blob, zip: Zip): Promise<Sheet> {
  const workbook = await textIn(file, zip, WORKBOOK);
  const sheets = await listSheets(file, zip, workbook);
  const visible = sheets.filter(({ isVisible }) => isVisible);
  const book = { strings: await readStrings(file, zip), isCalculated: !/\sfullCalcOnLoad\s*=\s*["'](1|true)/.test(workbook) };
  let grown = 0;
  /** Many sheets may be one part, and many cells one long text: what all of them grow to counts. */
  function grow(length: number): void {
    grown += length;
    checkGrowth(grown, file.size);
  }

  function open({ path }: SheetPart): SheetRows {
    const packed = zip.get(path);
    if (!packed) throw new TableError("The workbook has a sheet that cannot be read: save it as CSV.");
    return toRows(counted(unpack(file, packed), grow), book, grow);
  }

  let [first] = visible;
  if (!first) throw new TableError("The workbook has no sheet that can be read: save it as CSV.");
  for (const sheet of visible) {
    if (await isEmpty(open(sheet))) continue;
    first = sheet;
    break;
  }
  return { name: first.name, others: sheets.filter((sheet) => sheet !== first).map(({ name }) => name), rows: open(first) };
}

type Book = Readonly<{
  strings: readonly string[];
  /** Otherwise a program wrote the formulas, which does not calculate, and left that to the next one. */
  isCalculated: boolean;
}>;

type SheetPart = Readonly<{ name: string; path: string; isVisible: boolean }>;

async function listSheets(file: Blob, zip: Zip, workbook: string): Promise<SheetPart[]> {
  const relations = await textIn(file, zip, "xl/_rels/workbook.xml.rels");
  const paths = new Map(
    tagsIn(relations, "Relationship").map((tag) => [attribute(tag, "Id"), attribute(tag, "Target")?.replace(/^\/?(xl\/)?/, "xl/")]),
  );
  return (
    tagsIn(workbook, "sheet")
      .map((tag) => ({
        name: attribute(tag, "name") ?? "",
        path: paths.get(attribute(tag, "\\w+:id")) ?? "",
        isVisible: (attribute(tag, "state") ?? "visible") === "visible",
      }))
      // A sheet of charts has no rows.
      .filter(({ path }) => path.includes("worksheets/"))
  );
}

async function* counted(pieces: AsyncGenerator<Uint8Array, void, void>, count: (length: number) => void): typeof pieces {
  for await (const piece of pieces) {
    count(piece.length);
    yield piece;
  }
}

async function isEmpty(rows: SheetRows): Promise<boolean> {
  for await (const some of rows) if (some.some(({ cells }) => cells.length > 0)) return false;
  return true;
}

async function textIn(file: Blob, zip: Zip, name: string): Promise<string> {
  const packed = zip.get(name);
  return packed ? textOf(unpack(file, packed), WORKBOOK_LENGTH_MAX) : "";
}

async function readStrings(file: Blob, zip: Zip): Promise<string[]> {
  const packed = zip.get(STRINGS);
  const strings: string[] = [];
  let length = 0;
  if (!packed) return strings;
  for await (const some of elementsOf(unpack(file, packed), "si", "sst")) {
    for (const text of some.map(({ inner }) => toText(inner))) {
      strings.push(text);
      length += text.length;
    }
    if (length > STRINGS_LENGTH_MAX) throw new TableError("The workbook holds more text than can be read: save it as CSV.");
  }
  return strings;
}

async function* toRows(sheet: AsyncGenerator<Uint8Array, void, void>, book: Book, grow: (length: number) => void): SheetRows {
  let next = 1;
  for await (const some of elementsOf(sheet, "row", "worksheet")) {
    yield some.map(({ tag, inner }) => {
      const line = Number(attribute(tag, "r") ?? next);
      if (!(line >= next && line <= ROWS_MAX)) throw new TableError("The rows of the sheet are out of order: save it again.");
      grow(line - next);
      next = line + 1;
      return toCellRow(line, inner, { ...book, grow });
    });
  }
}

/** What Excel can hold. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;

function toCellRow(line: number, row: string, book: Book & Readonly<{ grow: (length: number) => void }>): CellRow {
  const cells: Cell[] = [];
  const faults = new Map<number, CellFault>();
  let next = 0;
  let length = 0;
  for (const { tag, inner } of elementsIn(row, "c")) {
    const address = attribute(tag, "r");
    const at = address === undefined ? next : toIndex(address);
    next = at + 1;
    const value = toValue(tag, inner, book);
    // As LEFT() cuts an emoji in two.
    const fault = value.fault ?? (value.text.isWellFormed() ? undefined : "error");
    if (fault) faults.set(at, fault);
    // A cell that only has a colour is no reason to fill the row up to it.
    if (value.text === "" && !fault) continue;
    length += value.text.length;
    if (length > ELEMENT_LENGTH_MAX) throw new TableError(TOO_LONG);
    while (cells.length < at) cells.push(undefined);
    // A line break in a cell would move the numbers of all lines behind it, where a sheet becomes CSV.
    cells[at] = value.text.replaceAll(/\r\n|\r|\n/g, " ").toWellFormed();
  }
  book.grow(length + cells.length);
  return { line, cells, faults: faults.size > 0 ? faults : undefined };
}

function toIndex(address: string): number {
  const [, letters = ""] = /^([A-Z]{1,3})\d*$/i.exec(address) ?? [];
  let index = 0;
  for (const letter of letters.toUpperCase()) index = index * 26 + letter.charCodeAt(0) - 64;
  if (index > 0 && index <= COLUMNS_MAX) return index - 1;
  throw new TableError(`The sheet has a cell ${address}, which Excel cannot hold: open it in a spreadsheet and save it again.`);
}

type Value = Readonly<{ text: string; fault?: CellFault }>;

function toValue(tag: string, inner: string, { strings, isCalculated }: Book): Value {
  const type = attribute(tag, "t");
  // A cell that has only a style.
  if (inner === "" && type !== "e") return { text: "" };
  if (type === "inlineStr") return { text: toText(inner) };
  const [value] = elementsIn(inner, "v").map((element) => unescape(element.inner));
  // Neither may become a name. An empty text is a result.
  if (type === "e") return { text: value ?? "", fault: "error" };
  const isNoResult = value === "0" && type === undefined ? !isCalculated : !value && !(type === "str" && value === "");
  if (isNoResult && /<(\w+:)?f\b/.test(inner)) return { text: "?", fault: "error" };
  if (!value) return { text: "" };
  if (type === "s") return { text: sharedText(value, strings) };
  if (type === "b") return { text: value === "1" ? "TRUE" : "FALSE" };
  return type === undefined || type === "n" ? toNumber(value) : { text: value };
}

function sharedText(place: string, strings: readonly string[]): string {
  const text = /^\d+$/.test(place) ? strings[Number(place)] : undefined;
  if (text === undefined) throw new TableError("A cell names a text that the workbook lacks: open it in a spreadsheet and save it again.");
  return text;
}

/**
 * The digits of a number as they stand in the file. Digits that are neither those of a double, nor the fewest that name one,
 * were not rounded: another program wrote them.
 */
function toNumber(value: string): Value {
  const number = Number(value);
  const isWhole = /^-?\d+$/.test(value);
  const isOfDouble = isWhole && Number.isFinite(number) && (BigInt(number) === BigInt(value) || String(number) === value);
  if (isWhole && !isOfDouble) return { text: value };
  // Some programs write 4006381333931 as 4.006381333931E12.
  if (Math.abs(number) < 10 ** DIGITS_EXACT) return { text: Number.isInteger(number) ? String(number) : value };
  // Ids that are made from the content follow from this text, too.
  return { text: `${value} (rounded to ${DIGITS_EXACT} digits by Excel)`, fault: "rounded" };
}

/** The texts of a cell, without hints for pronunciation. */
function toText(inner: string): string {
  const hints = inner.includes("rPh") ? elementsIn(inner, "rPh") : [];
  let hint = 0;
  const texts = elementsIn(inner, "t").filter(({ from }) => {
    while (hint < hints.length && hints[hint]!.to <= from) hint += 1;
    return !(hint < hints.length && hints[hint]!.from < from);
  });
  return texts.map((text) => unescape(text.inner)).join("");
}
