import type { Cell, CellFault, CellRow } from "../cells.ts";
import { MergedAreas } from "./merged-areas.ts";
import type { MergedArea } from "./merged-areas.ts";
import { readNumberFormats } from "./number-formats.ts";
import type { SheetRows } from "./workbook.ts";
import { TableError } from "../table-error.ts";
import { counted, createGrowth, inBatches, ROW_LENGTH } from "./workbook.ts";
import type { Grow, Workbook } from "./workbook.ts";
import { toText, toValue } from "./xlsx-cell.ts";
import type { Book } from "./xlsx-cell.ts";
import { attribute, ELEMENT_LENGTH_MAX, elementsOf, elementsIn, tagsBehind, tagsIn, TOO_LONG } from "./xml.ts";
import type { Element } from "./xml.ts";
import { textOf, unpack } from "../zip.ts";
import type { Zip } from "../zip.ts";

/** Excel on the web numbers it, at times. */
const WORKBOOK = /^xl\/(workbook\d*\.xml)$/;
const STRINGS = "xl/sharedStrings.xml";
const STYLES = "xl/styles.xml";

/** In characters. */
const WORKBOOK_LENGTH_MAX = 1_000_000;
const STYLES_LENGTH_MAX = 20_000_000;
const STRINGS_LENGTH_MAX = 200_000_000;
const AREAS_MAX = 200_000;

export function isXlsx(zip: Zip): boolean {
  return findWorkbook(zip) !== undefined;
}

function findWorkbook(zip: Zip): string | undefined {
  return Array.from(zip.keys()).find((name) => WORKBOOK.test(name));
}

/**
 * Opens an .xlsx file (ECMA-376, also Strict). Rows are read as they are taken; only the texts that cells share, and which
 * cells are merged, are kept. Throws a TableError.
 */
export async function openWorkbook(file: Blob, zip: Zip): Promise<Workbook> {
  const workbook = await textIn(file, zip, findWorkbook(zip) ?? "");
  const book = {
    strings: await readStrings(file, zip),
    formatOf: readNumberFormats(await textIn(file, zip, STYLES, STYLES_LENGTH_MAX)),
    is1904: tagsIn(workbook, "workbookPr").some((tag) => /^(1|true)$/.test(attribute(tag, "date1904") ?? "")),
    isCalculated: !/\sfullCalcOnLoad\s*=\s*["'](1|true)/.test(workbook),
  };
  const growth = createGrowth(file.size);
  const parts = await listSheets(file, zip, workbook);
  return {
    sheets: parts.map(({ name, isVisible, path }, at) => {
      function open(grow: Grow): AsyncGenerator<Uint8Array, void, void> {
        const packed = zip.get(path);
        if (!packed) throw new TableError("The workbook has a sheet that cannot be read: save it as CSV.");
        return counted(unpack(file, packed), grow);
      }
      let areas: readonly MergedArea[] | undefined;
      async function* rows(): SheetRows {
        areas ??= await readAreas(open(growth(at)));
        const grow = growth(at);
        yield* toRows(open(grow), { book, areas, grow });
      }
      return { name, isVisible, rows };
    }),
  };
}

type SheetPart = Readonly<{ name: string; path: string; isVisible: boolean }>;

async function listSheets(file: Blob, zip: Zip, workbook: string): Promise<SheetPart[]> {
  const relations = await textIn(file, zip, `xl/_rels/${findWorkbook(zip)?.replace(WORKBOOK, "$1")}.rels`);
  const paths = new Map(
    tagsIn(relations, "Relationship").map((tag) => [attribute(tag, "Id"), attribute(tag, "Target")?.replace(/^\/?(\.\/)?(xl\/)?/, "xl/")]),
  );
  return (
    tagsIn(workbook, "sheet")
      .map((tag) => ({
        name: attribute(tag, "name") ?? "",
        path: paths.get(attribute(tag, "\\w+:id")) ?? "",
        isVisible: (attribute(tag, "state") ?? "visible") === "visible",
      }))
      // Those of charts have no rows.
      .filter(({ path }) => path !== "" && !/^xl\/(chart|dialog|macro)sheets\//i.test(path))
  );
}

/** Which cells are merged: that stands behind all rows. */
async function readAreas(sheet: AsyncGenerator<Uint8Array, void, void>): Promise<readonly MergedArea[]> {
  const areas: MergedArea[] = [];
  for await (const tags of tagsBehind(sheet, "sheetData", "mergeCell")) {
    for (const tag of tags) areas.push(...toArea(attribute(tag, "ref") ?? ""));
    if (areas.length > AREAS_MAX) throw new TableError("The sheet has too many merged cells: save it as CSV.");
  }
  return areas.toSorted((a, b) => a.top - b.top);
}

function toArea(reference: string): MergedArea[] {
  const [, first, top, last, bottom] = /^([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})$/i.exec(reference) ?? [];
  if (first === undefined || last === undefined) return [];
  return [{ top: Number(top), bottom: Number(bottom), left: toIndex(first), right: toIndex(last) }];
}

async function textIn(file: Blob, zip: Zip, name: string, lengthMax = WORKBOOK_LENGTH_MAX): Promise<string> {
  const packed = zip.get(name);
  return packed ? textOf(unpack(file, packed), lengthMax) : "";
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

type RowOptions = Readonly<{ book: Book; areas: readonly MergedArea[]; grow: Grow }>;

async function* toRows(sheet: AsyncGenerator<Uint8Array, void, void>, { book, areas, grow }: RowOptions): SheetRows {
  const merged = new MergedAreas(areas);
  let next = 1;
  function toRow({ tag, inner }: Element): CellRow {
    const line = Number(attribute(tag, "r") ?? next);
    if (!(line >= next && line <= ROWS_MAX)) throw new TableError("The rows of the sheet are out of order: save it again.");
    grow(line - next);
    next = line + 1;
    const row = merged.filled(toCellRow(line, inner, { ...book, grow }), grow);
    return HIDDEN.test(tag) ? { ...row, isHidden: true } : row;
  }
  for await (const some of elementsOf(sheet, "row", "worksheet")) yield* inBatches(some, toRow);
}

/** By hand, by a filter, in a group that is closed, or without a height. */
const HIDDEN = /\s(?:hidden\s*=\s*["'](?:1|true)|ht\s*=\s*["']0(?:\.0*)?)["']/;

/** What Excel can hold. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;

function toCellRow(line: number, row: string, book: Book & Readonly<{ grow: Grow }>): CellRow {
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
    book.grow(Math.max(0, at + 1 - cells.length) + value.text.length);
    while (cells.length < at) cells.push(undefined);
    // A line break in a cell would move the numbers of all lines behind it, where a sheet becomes CSV.
    cells[at] = value.text.replaceAll(/\r\n|\r|\n/g, " ").toWellFormed();
  }
  if (cells.length > 0) book.grow(ROW_LENGTH);
  return { line, cells, faults: faults.size > 0 ? faults : undefined };
}

function toIndex(address: string): number {
  const [, letters = ""] = /^([A-Z]{1,3})\d*$/i.exec(address) ?? [];
  let index = 0;
  for (const letter of letters.toUpperCase()) index = index * 26 + letter.charCodeAt(0) - 64;
  if (index > 0 && index <= COLUMNS_MAX) return index - 1;
  throw new TableError(`The sheet has a cell ${address}, which Excel cannot hold: open it in a spreadsheet and save it again.`);
}
