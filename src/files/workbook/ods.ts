import type { Cell, CellFault, CellRow } from "../cells.ts";
import { MergedAreas } from "./merged-areas.ts";
import type { MergedArea } from "./merged-areas.ts";
import { DIGITS_EXACT, toDigits } from "./number-format.ts";
import type { SheetRows } from "./workbook.ts";
import { TableError } from "../table-error.ts";
import { counted, createGrowth, inBatches, ROW_LENGTH } from "./workbook.ts";
import type { Grow, Workbook } from "./workbook.ts";
import { toIsoText } from "./xlsx-cell.ts";
import type { Value } from "./xlsx-cell.ts";
import { attribute, ELEMENT_LENGTH_MAX, elementsIn, elementsOf, tagsIn, TOO_LONG, unescape, withoutElements } from "./xml.ts";
import type { PlacedElement } from "./xml.ts";
import { textOf, unpack } from "../zip.ts";
import type { Zip } from "../zip.ts";

const CONTENT = "content.xml";
const MANIFEST = "META-INF/manifest.xml";
/** In characters. */
const MANIFEST_LENGTH_MAX = 1_000_000;
/** What LibreOffice can hold. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;
const SPACES_MAX = 1_000;
/**
 * Two equal rows are written as one that is repeated, but so is a column that is filled to the end of the sheet.
 *
 * @limit files: rows of an .ods that only repeat the one above
 */
const REPEATED_MAX = 10_000;

/**
 * Opens a spreadsheet of OpenDocument 1.3 (part 3, 9). All sheets are one part, so each is read from its start, or from
 * where the reading of one before it was left. Throws a TableError.
 */
export async function openOds(file: Blob, zip: Zip): Promise<Workbook> {
  const manifest = zip.get(MANIFEST);
  if (manifest && (await textOf(unpack(file, manifest), MANIFEST_LENGTH_MAX)).includes("encryption-data"))
    throw new TableError("The spreadsheet has a password: save it without one, or as CSV.");
  const growth = createGrowth(file.size);
  function open(grow: Grow) {
    const packed = zip.get(CONTENT);
    if (!packed) throw new TableError("The spreadsheet has no content: save it again.");
    return elementsOf(counted(unpack(file, packed), grow), ROW, "document-content");
  }
  const hidden = new Set<string | undefined>();
  const tables: string[] = [];
  for await (const some of open(growth(-1))) {
    for (const { before } of some.filter(({ before: text }) => text.includes("<"))) {
      for (const name of hiddenStyles(before)) hidden.add(name);
      tables.push(...tagsIn(before, "table"));
    }
  }
  let left: Reader | undefined;
  async function* rowsOf(wanted: number): SheetRows {
    let reader = left;
    left = undefined;
    if (!reader || reader.table >= wanted) {
      await reader?.pieces.return();
      // What is before a sheet counts once, however many sheets are read.
      reader = { pieces: open(growth(-2)), some: [], next: 0, table: -1 };
    }
    let isFailed = false;
    try {
      yield* toRows(reader, wanted, growth(wanted));
    } catch (thrown) {
      isFailed = true;
      throw thrown;
    } finally {
      if (!isFailed) left = reader;
    }
  }
  return {
    sheets: tables.map((tag, at) => ({
      name: attribute(tag, "table:name") ?? "",
      isVisible: !hidden.has(attribute(tag, "table:style-name")),
      rows: () => rowsOf(at),
    })),
  };
}

/** Where the reading of all tables is: at a place among some rows, and in which table the last one was that was taken. */
type Reader = { readonly pieces: ReturnType<typeof elementsOf>; some: readonly PlacedElement[]; next: number; table: number };

/** The next row, which is not taken yet. */
async function lookAhead(reader: Reader): Promise<PlacedElement | undefined> {
  while (reader.next >= reader.some.length) {
    const piece = await reader.pieces.next();
    if (piece.done) return undefined;
    [reader.some, reader.next] = [piece.value, 0];
  }
  return reader.some[reader.next];
}

const ROW = "table-row";

function hiddenStyles(xml: string): (string | undefined)[] {
  if (!xml.includes("table:display")) return [];
  const styles = elementsIn(xml, "style").filter(({ inner }) => /\stable:display\s*=\s*["']false/.test(inner));
  return styles.map(({ tag }) => attribute(tag, "style:name"));
}

async function* toRows(reader: Reader, wanted: number, grow: Grow): SheetRows {
  const areas: MergedArea[] = [];
  const merged = new MergedAreas(areas);
  let line = 1;
  let repeated = 0;
  for (let found = await lookAhead(reader); found; found = await lookAhead(reader)) {
    const { before, tag, inner } = found;
    const table = reader.table + (before === "" ? 0 : tagsIn(before, "table").length);
    if (table > wanted) return;
    reader.next += 1;
    reader.table = table;
    if (table < wanted) continue;
    const end = line + countOf(tag, "table:number-rows-repeated");
    const row = toCellRow(line, inner, { areas, grow });
    const isEmpty = row.cells.length === 0 && !row.faults;
    if (end > ROWS_MAX + 1 && !isEmpty) throw new TableError("The sheet has more rows than can be read: save it as CSV.");
    if (!isEmpty) repeated += end - line - 1;
    if (repeated > REPEATED_MAX) throw new TableError(REPEATED);
    const shown = HIDDEN.test(tag) ? { ...row, isHidden: true } : row;
    if (!isEmpty) yield* repeat(shown, end, { merged, grow });
    line = end;
  }
}

const REPEATED = `The sheet repeats rows more than ${REPEATED_MAX} times: delete what is filled below the table, or save it as CSV.`;

/** By hand, in a group that is closed, or by a filter. */
const HIDDEN = /\stable:visibility\s*=\s*["'](?:collapse|filter)["']/;

type Repeated = Readonly<{ merged: MergedAreas; grow: Grow }>;

function repeat(row: CellRow, end: number, { merged, grow }: Repeated): ReturnType<typeof inBatches> {
  const length = row.cells.reduce((sum, cell = "") => sum + cell.length + 1, ROW_LENGTH);
  const lines = Array.from({ length: end - row.line }, (_, at) => row.line + at);
  return inBatches(lines, (line) => {
    grow(length);
    return merged.filled({ ...row, line }, grow);
  });
}

function toCellRow(line: number, row: string, { areas, grow }: Readonly<{ areas: MergedArea[]; grow: Grow }>): CellRow {
  const cells: Cell[] = [];
  const faults = new Map<number, CellFault>();
  let at = 0;
  let length = 0;
  for (const { tag, inner } of elementsIn(row, "(?:covered-)?table-cell")) {
    const count = countOf(tag, "table:number-columns-repeated");
    const [width, height] = [countOf(tag, "table:number-columns-spanned"), countOf(tag, "table:number-rows-spanned")];
    if (width * height > 1) areas.push({ top: line, bottom: line + height - 1, left: at, right: at + width - 1 });
    const { text, fault } = toValue(tag, inner);
    if (text !== "" || fault) {
      length += text.length * count;
      if (length > ELEMENT_LENGTH_MAX || at + count > COLUMNS_MAX) throw new TableError(TOO_LONG);
      grow(at - cells.length + count * (1 + text.length));
      while (cells.length < at) cells.push(undefined);
      for (let place = at; place < at + count; place += 1) {
        cells.push(text);
        if (fault) faults.set(place, fault);
      }
    }
    at += count;
  }
  return { line, cells, faults: faults.size > 0 ? faults : undefined };
}

/** How many times something is there. */
function countOf(tag: string, name: string): number {
  const count = Number(attribute(tag, name) ?? 1);
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new TableError("The spreadsheet is damaged: save it again.");
}

/** What a cell shows, but dates as ISO 8601, and whole numbers without the separators of a language. */
function toValue(tag: string, inner: string): Value {
  if (inner === "") return { text: "" };
  const text = toText(inner);
  const type = attribute(tag, "office:value-type");
  if (attribute(tag, "calcext:value-type") === "error") return { text, fault: "error" };
  const date = type === "date" ? attribute(tag, "office:date-value") : undefined;
  if (date !== undefined) return { text: toIsoText(date) };
  return type === "float" ? toNumber(text, attribute(tag, "office:value") ?? "") : { text };
}

/** A number as its cell shows it, unless that leaves out some of it: in a cell that is too narrow, LibreOffice writes `###`. */
function toNumber(shown: string, value: string): Value {
  const number = Number(value);
  if (value === "" || Number.isNaN(number)) return { text: shown };
  const isWhole = Number.isInteger(number);
  if (Math.abs(number) >= 10 ** DIGITS_EXACT && (!/^-?\d+$/.test(value) || BigInt(number) === BigInt(value)))
    return { text: `${value} (rounded to ${DIGITS_EXACT} digits)`, fault: "rounded" };
  if (/^-?\d+$/.test(value) && Math.abs(number) >= 10 ** DIGITS_EXACT) return { text: value };
  const isGrouped = isWhole && shown.replace(/(?<=\d)[.,'’\s](?=\d{3}(?:\D|$))/g, "") === toDigits(number);
  if (isGrouped) return { text: toDigits(number) };
  return /\d/.test(shown) && !/\de[+-]?\d/i.test(shown) ? { text: shown } : { text: toDigits(number), fault: "doubtful" };
}

/** What has paragraphs of its own, or lies over the cell: notes, shapes, and hints for pronunciation. */
const BESIDES = "(?:\\w+:)?annotation|draw:[\\w-]+|dr3d:[\\w-]+|text:ruby-text";

/** The paragraphs of a cell, as a row has one line. */
function toText(inner: string): string {
  const texts = elementsIn(withoutElements(inner, BESIDES), "p").map((paragraph) =>
    unescape(
      paragraph.inner
        .replaceAll(/<(?:\w+:)?s(?:\s[^<>]*?)?\/>/g, (tag) => " ".repeat(Math.min(SPACES_MAX, countOf(tag, "text:c"))))
        .replaceAll(/<(?:\w+:)?(?:tab|line-break)\s*\/>/g, " ")
        .replaceAll(/<[^<>]*>/g, ""),
    ),
  );
  return texts
    .join(" ")
    .replaceAll(/[\r\n]+/g, " ")
    .toWellFormed();
}
