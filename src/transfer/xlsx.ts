import { checkGrowth } from "./gunzip.ts";
import { TableError } from "./table-error.ts";
import { attribute, ELEMENT_LENGTH_MAX, elementsIn, elementsOf, tagsIn, TOO_LONG, unescape } from "./xml.ts";
import { textOf, unpack } from "./zip.ts";
import type { Zip } from "./zip.ts";
import { BROKEN } from "./csv-cell.ts";
import { quote } from "./csv-writer.ts";

/** The first visible sheet of a workbook with anything in it, as CSV. */
export type Sheet = Readonly<{
  name: string;
  /** The names of the others. */
  others: readonly string[];
  /** A line for each row up to the last one, so that a line of CSV has the number of its row. */
  csv: AsyncGenerator<Uint8Array, void, void>;
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
  async function* within(pieces: Sheet["csv"]): Sheet["csv"] {
    for await (const piece of pieces) {
      grown += piece.length;
      checkGrowth(grown, file.size);
      yield piece;
    }
  }

  function open({ path }: SheetPart): Sheet["csv"] {
    const packed = zip.get(path);
    if (!packed) throw new TableError("The workbook has a sheet that cannot be read: save it as CSV.");
    return within(toCsv(within(unpack(file, packed)), book));
  }

  let [first] = visible;
  if (!first) throw new TableError("The workbook has no sheet that can be read: save it as CSV.");
  for (const sheet of visible) {
    if (await isEmpty(open(sheet))) continue;
    first = sheet;
    break;
  }
  return { name: first.name, others: sheets.filter((sheet) => sheet !== first).map(({ name }) => name), csv: open(first) };
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

async function isEmpty(csv: AsyncGenerator<Uint8Array, void, void>): Promise<boolean> {
  for await (const piece of csv) if (piece.some((byte) => byte !== LF)) return false;
  return true;
}

const LF = 0x0a;

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

async function* toCsv(sheet: AsyncGenerator<Uint8Array, void, void>, book: Book): AsyncGenerator<Uint8Array, void, void> {
  const utf8 = new TextEncoder();
  let line = 1;
  for await (const some of elementsOf(sheet, "row", "worksheet")) {
    let text = "";
    for (const { tag, inner } of some) {
      const row = Number(attribute(tag, "r") ?? line);
      if (!(row >= line && row <= ROWS_MAX)) throw new TableError("The sheet has its rows in no order: save it again.");
      text += `${"\n".repeat(row - line)}${toCells(inner, book)}\n`;
      line = row + 1;
      if (text.length < CSV_LENGTH) continue;
      yield utf8.encode(text);
      text = "";
    }
    yield utf8.encode(text);
  }
}

/** How much CSV is made at once, in characters: few rows may become much of it. */
const CSV_LENGTH = 1_000_000;

/** What Excel can hold. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;

function toCells(row: string, book: Book): string {
  const cells: string[] = [];
  let next = 0;
  let length = 0;
  for (const { tag, inner } of elementsIn(row, "c")) {
    const address = attribute(tag, "r");
    const at = address === undefined ? next : toIndex(address);
    next = at + 1;
    const text = toValue(tag, inner, book);
    // A cell that only has a colour is no reason to fill the row up to it.
    if (text === "") continue;
    length += text.length;
    if (length > ELEMENT_LENGTH_MAX) throw new TableError(TOO_LONG);
    while (cells.length < at) cells.push("");
    // A line break in a cell would move the numbers of all lines behind it.
    const plain = text.replaceAll(/\r\n|\r|\n/g, " ");
    // As LEFT() cuts an emoji in two.
    cells[at] = quote(plain.isWellFormed() ? plain : `${BROKEN}${plain}`);
  }
  return cells.join(",");
}

function toIndex(address: string): number {
  const [, letters = ""] = /^([A-Z]{1,3})\d*$/i.exec(address) ?? [];
  let index = 0;
  for (const letter of letters.toUpperCase()) index = index * 26 + letter.charCodeAt(0) - 64;
  if (index > 0 && index <= COLUMNS_MAX) return index - 1;
  throw new TableError(`The sheet has a cell ${address}, which Excel cannot hold: open it in a spreadsheet and save it again.`);
}

function toValue(tag: string, inner: string, { strings, isCalculated }: Book): string {
  const type = attribute(tag, "t");
  if (type === "inlineStr") return toText(inner);
  const [value] = elementsIn(inner, "v").map((element) => unescape(element.inner));
  // Neither may become a name. An empty text is a result.
  if (type === "e") return `${BROKEN}${value}`;
  const isNoResult = value === "0" && type === undefined ? !isCalculated : !value && !(type === "str" && value === "");
  if (isNoResult && /<(\w+:)?f\b/.test(inner)) return `${BROKEN}?`;
  if (!value) return "";
  if (type === "s") return sharedText(value, strings);
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  return type === undefined || type === "n" ? toNumber(value) : value;
}

function sharedText(place: string, strings: readonly string[]): string {
  const text = /^\d+$/.test(place) ? strings[Number(place)] : undefined;
  if (text === undefined) throw new TableError("A cell names a text that the workbook lacks: open it in a spreadsheet and save it again.");
  return text;
}

/**
 * The digits of a number as they stand in the file. One that Excel would have rounded says so, so that it is no id. Digits
 * that are neither those of a double, nor the fewest that name one, were not rounded: another program wrote them.
 */
function toNumber(value: string): string {
  const number = Number(value);
  const isWhole = /^-?\d+$/.test(value);
  const isOfDouble = isWhole && Number.isFinite(number) && (BigInt(number) === BigInt(value) || String(number) === value);
  if (isWhole && !isOfDouble) return value;
  // Some programs write 4006381333931 as 4.006381333931E12.
  if (Math.abs(number) < 10 ** DIGITS_EXACT) return Number.isInteger(number) ? String(number) : value;
  return `${value} (rounded to ${DIGITS_EXACT} digits by Excel)`;
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
