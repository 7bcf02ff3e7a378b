import { TableError } from "./table-error.ts";
import { piecesOf, textOf, unpack } from "./zip.ts";
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
const ROW_LENGTH_MAX = 4_000_000;

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
  const sheets = await listSheets(file, zip);
  const visible = sheets.filter(({ isVisible }) => isVisible);
  const strings = await readStrings(file, zip);
  function open({ path }: SheetPart): Sheet["csv"] {
    const packed = zip.get(path);
    if (!packed) throw new TableError("The workbook has a sheet that cannot be read: save it as CSV.");
    return toCsv(unpack(file, packed), strings);
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

type SheetPart = Readonly<{ name: string; path: string; isVisible: boolean }>;

async function listSheets(file: Blob, zip: Zip): Promise<SheetPart[]> {
  const workbook = await textIn(file, zip, WORKBOOK);
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

async function* toCsv(sheet: AsyncGenerator<Uint8Array, void, void>, strings: readonly string[]): AsyncGenerator<Uint8Array, void, void> {
  const utf8 = new TextEncoder();
  let line = 1;
  for await (const some of elementsOf(sheet, "row", "worksheet")) {
    let text = "";
    for (const { tag, inner } of some) {
      const row = Number(attribute(tag, "r") ?? line);
      if (!(row >= line && row <= ROWS_MAX)) throw new TableError("The sheet has its rows in no order: save it again.");
      text += `${"\n".repeat(row - line)}${toCells(inner, strings)}\n`;
      line = row + 1;
    }
    yield utf8.encode(text);
  }
}

/** What Excel can hold. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;

function toCells(row: string, strings: readonly string[]): string {
  const cells: string[] = [];
  let next = 0;
  for (const { tag, inner } of elementsIn(row, "c")) {
    const address = attribute(tag, "r");
    const at = address === undefined ? next : toIndex(address);
    next = at + 1;
    const text = toValue(tag, inner, strings);
    // A cell that only has a colour is no reason to fill the row up to it.
    if (text === "") continue;
    while (cells.length < at) cells.push("");
    // A line break in a cell would move the numbers of all lines behind it.
    cells[at] = quote(text.replaceAll(/\r\n|\r|\n/g, " "));
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

function toValue(tag: string, inner: string, strings: readonly string[]): string {
  const type = attribute(tag, "t");
  if (type === "inlineStr") return toText(inner);
  const [value] = elementsIn(inner, "v").map((element) => unescape(element.inner));
  // Neither may become a name. An empty text is a result.
  if (type === "e") return `${BROKEN}${value}`;
  if (!value && !(type === "str" && value === "") && /<(\w+:)?f\b/.test(inner)) return `${BROKEN}?`;
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
 * The digits of a number as they stand in the file. One that Excel would have rounded says so, so that it is no id;
 * digits that no double has were not rounded: another program wrote them.
 */
function toNumber(value: string): string {
  const isWhole = /^-?\d+$/.test(value);
  if (isWhole && BigInt(Math.trunc(Number(value))) !== BigInt(value)) return value;
  const number = Number(value);
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

type Element = Readonly<{
  tag: string;
  inner: string;
  /** Where it begins and ends. */
  from: number;
  to: number;
}>;

/**
 * The elements of this name, which are not nested. Each character is looked at once, whatever the text is. Throws a
 * TableError if one is not closed.
 */
function elementsIn(xml: string, name: string): Element[] {
  const begin = pattern(`<((?:\\w+:)?${name})(\\s[^<>]*?)?(/?)>`, "g");
  begin.lastIndex = 0;
  const elements: Element[] = [];
  for (let found = begin.exec(xml); found; found = begin.exec(xml)) {
    const [, fullName = "", tag = "", isClosed] = found;
    const inside = begin.lastIndex;
    const end = isClosed ? { at: inside, to: inside } : findEnd(xml, fullName, inside);
    elements.push({ tag, inner: xml.slice(inside, end.at), from: found.index, to: end.to });
    begin.lastIndex = end.to;
  }
  return elements;
}

/** Making a pattern takes longer than using it on a cell. */
function pattern(source: string, flags: "g" | "s"): RegExp {
  const known = PATTERNS.get(source);
  if (known) return known;
  const made = new RegExp(source, flags);
  PATTERNS.set(source, made);
  return made;
}

/** For the few names that this file asks for. */
const PATTERNS = new Map<string, RegExp>();

function findEnd(xml: string, fullName: string, from: number): Readonly<{ at: number; to: number }> {
  const end = `</${fullName}`;
  for (let at = xml.indexOf(end, from); at !== -1; at = xml.indexOf(end, at + 1)) {
    END_OF_TAG.lastIndex = at + end.length;
    if (END_OF_TAG.test(xml)) return { at, to: END_OF_TAG.lastIndex };
  }
  throw new TableError(NOT_WHOLE);
}

const END_OF_TAG = /\s*>/y;
const NOT_WHOLE = "The workbook is not whole: save it again.";

function tagsIn(xml: string, name: string): string[] {
  return Array.from(xml.matchAll(new RegExp(`<(?:\\w+:)?${name}\\s([^<>]*?)/?>`, "g")), ([, tag = ""]) => tag);
}

function attribute(tag: string, name: string): string | undefined {
  const [, , value] = pattern(`(?:^|\\s)${name}\\s*=\\s*(["'])(.*?)\\1`, "s").exec(tag) ?? [];
  return value === undefined ? undefined : unescape(value);
}

/** The elements of this name, which are not nested, as they come. Throws a TableError if `root` is not closed. */
async function* elementsOf(
  bytes: AsyncGenerator<Uint8Array, void, void>,
  name: string,
  root: string,
): AsyncGenerator<Element[], void, void> {
  let end: string | undefined;
  let rest = "";
  for await (const piece of piecesOf(bytes)) {
    rest = toPlain(rest + piece);
    end ??= new RegExp(`</(?:\\w+:)?${name}\\s*>`).exec(rest)?.[0];
    const last = end === undefined || OPEN.test(rest) ? -1 : rest.lastIndexOf(end);
    if (end !== undefined && last !== -1) {
      yield elementsIn(rest.slice(0, last + end.length), name);
      rest = rest.slice(last + end.length);
    }
    if (rest.length > ROW_LENGTH_MAX) throw new TableError("The sheet has a row that is too long: save it as CSV.");
  }
  const isWhole = new RegExp(`</(?:\\w+:)?${root}\\s*>|<(?:\\w+:)?${root}(?:\\s[^>]*)?/>`).test(rest);
  if (!isWhole || OPEN.test(rest)) throw new TableError(NOT_WHOLE);
  yield elementsIn(rest, name);
}

/** The same XML without comments, and with CDATA as usual text. One that has no end yet stays, and is looked at once. */
function toPlain(xml: string): string {
  if (!xml.includes("<!")) return xml;
  return xml.replaceAll(SPECIAL, (whole: string, text = "", end: string) =>
    end === "" ? whole : text.replaceAll("&", "&amp;").replaceAll("<", "&lt;"),
  );
}

const SPECIAL = /<!(?:--.*?(?=-->|$)|\[CDATA\[(.*?)(?=\]\]>|$))(-->|\]\]>|$)/gs;

/** The start of one whose end has not come yet. */
const OPEN = /<!(?:--|\[CDATA\[)/;

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The text of XML, and of Excel's own `_x000D_`. */
function unescape(xml: string): string {
  if (!/[&_]/.test(xml)) return xml;
  return xml
    .replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,4}));/gi, (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .replaceAll(/_x([0-9a-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
