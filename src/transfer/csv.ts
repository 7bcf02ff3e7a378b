import { createByteQueue } from "../byte-queue.ts";
import { PlantStoreError } from "../errors.ts";
import { parseInt64 } from "../json.ts";
import { toBytes, toByteText } from "./byte-text.ts";
import { invalidBody } from "../validation.ts";
import { openCellDecoder } from "./cell-decoder.ts";
import type { DecodeCell } from "./cell-decoder.ts";
import { createSplitter } from "./csv-parser.ts";
import type { Cell, Fault } from "./csv-parser.ts";
import { placeColumns, toColumnName } from "./columns.ts";
import type { Places } from "./columns.ts";
import { toContentId } from "./content-id.ts";
import { toUtf8 } from "./encodings.ts";
import { expected, inPieces, PLAIN, tooLong } from "./row.ts";
import type { Bytes, CsvReading, ReadOptions, Row, Rows } from "./row.ts";

const DELIMITERS = [",", ";", "\t"] as const;

/** How many unused columns are named. */
const UNUSED_MAX = 100;

/** The places of the known columns, and the number of all columns. */
type Layout = Places &
  Readonly<{
    columns: number;
    /** Reports, once for each column, that something in it was not read. */
    reportUnused: (at: number) => void;
  }>;

/**
 * Reads CSV (RFC 4180) whose first line names the columns. Splits the bytes undecoded, one character per byte, and
 * decodes cell by cell: a cell that is not UTF-8 is refused with its line instead of being mended. Throws
 * `invalid_csv_header`.
 */
export async function* readCsv(bytes: Bytes, options: ReadOptions): Rows {
  const { csv = PLAIN, onEncoding = () => undefined } = options;
  const file = await toUtf8(bytes);
  if (file.encoding) onEncoding(file.encoding);
  const { head, all } = await peek(file.bytes, options.lineBytesMax);
  let rows: Row[] = [];
  let layout: Layout | undefined;
  let count = 0n;
  const decode = openCellDecoder(file.isMarked ? "utf-8" : csv.encoding, onEncoding);
  const delimiter = findDelimiter(head);
  const splitter = createSplitter({
    delimiter,
    bytesMax: options.lineBytesMax,
    onRow(cells, line) {
      if (!layout) {
        if (!isDelimiterLine(cells)) layout = toLayout(cells, { decode, csv, options });
        return undefined;
      }
      const fault = findFault(cells, layout, delimiter);
      if (!fault) rows.push(toRow(cells, { line, count, layout, decode, csv, options }));
      if (!fault) count += 1n;
      return fault;
    },
    onFault(fault, { line, cells }) {
      if (!layout) throw new PlantStoreError("invalid_csv_header");
      rows.push({ line, refusal: toRefusal(fault, { cells, layout, delimiter, bytesMax: options.lineBytesMax }) });
      count += 1n;
    },
  });
  for await (const chunk of inPieces(all)) {
    splitter.feed(toByteText(chunk));
    yield rows;
    rows = [];
  }
  splitter.end();
  if (!layout) throw new PlantStoreError("invalid_csv_header");
  yield rows;
}

/** The first line that is not empty, and everything from the start on. */
async function peek(bytes: Bytes, bytesMax: number): Promise<{ head: string; all: Bytes }> {
  const source = bytes[Symbol.asyncIterator]();
  const gathered = createByteQueue();
  // Only once: a file may come byte by byte, and begin with any number of empty lines.
  let isBegun = false;
  for (let isWhole = false; gathered.length() < bytesMax && !isWhole;) {
    const { done, value } = await source.next();
    if (done) break;
    gathered.put(value.slice());
    const begin: number = isBegun ? 0 : value.findIndex((byte) => byte !== LF && byte !== CR);
    isBegun ||= begin !== -1;
    isWhole = isBegun && value.includes(LF, begin);
  }
  const first = gathered.take();
  const [, head = ""] = HEAD.exec(toByteText(first)) ?? [];
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield first;
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  }
  return { head, all: all() };
}

const LF = 0x0a;
const CR = 0x0d;

/** A line with something in it. */
const HEAD = /([^\r\n]+)/;

/** What Excel writes and reads in front of the names: `sep=;`. */
const DELIMITER_LINE = /^"?sep=([,;\t])?"?\s*$/i;

/** What the first line says, or the most frequent one in it outside of quotes. */
function findDelimiter(head: string): string {
  const [, said] = DELIMITER_LINE.exec(head) ?? [];
  if (said !== undefined) return said;
  const plain = head.replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

function isDelimiterLine([first = "", ...others]: readonly Cell[]): boolean {
  return DELIMITER_LINE.test(first) && others.every((cell) => cell === undefined);
}

type Reader = Readonly<{ decode: DecodeCell; csv: CsvReading; options: ReadOptions }>;

function toLayout(header: readonly Cell[], { decode, csv, options }: Reader): Layout {
  const { onUnused, onNames = () => undefined, onPlaces = () => undefined } = options;
  const names = header.map((cell) => toName(cell ?? "", decode));
  onNames(names);
  const places = placeColumns(names, { choice: csv.columns, isGuessing: csv.isGuessing, isWithoutIds: csv.ids.kind !== "file" });
  onPlaces(places, names);
  const reported = new Set<number>();
  function reportUnused(at: number): void {
    if (reported.has(at) || reported.size >= UNUSED_MAX) return;
    reported.add(at);
    onUnused(toColumnName(names[at]!, at));
  }
  const used = new Set(Object.values(places).flat());
  const columns = countFilled(names);
  for (let at = 0; at < columns; at += 1) if (!used.has(at)) reportUnused(at);
  return { ...places, columns, reportUnused };
}

/** The name of a column is only compared and shown, so it may be mended. */
function toName(cell: string, decode: DecodeCell): string {
  try {
    return decode(cell).trim();
  } catch {
    return new TextDecoder().decode(toBytes(cell)).trim();
  }
}

/**
 * A row may have fewer cells than there are columns, or more if the additional ones are empty, as spreadsheets write
 * them.
 */
function findFault(cells: readonly Cell[], layout: Layout, delimiter: string): Fault | undefined {
  const { id, columns } = layout;
  if (cells.length > columns && countFilled(cells) > columns) return "cells";
  // No id spans several lines, and no cell holds rows: this is an unclosed quote that another quote further down closed.
  if (id.some((at) => LINE_END.test(cells[at] ?? ""))) return "open_quote";
  return cells.some((cell, at) => holdsRows(cell ?? "", { layout, delimiter, behind: cells.length - at - 1 })) ? "open_quote" : undefined;
}

const LINE_END = /[\r\n]/;

/** `behind`: how many cells follow, on the line where this one ends. */
type Inside = Readonly<{ layout: Layout; delimiter: string; behind: number }>;

/** Whether one line in the cell is a row with an id or, where rows have none, all are rows. */
function holdsRows(cell: string, { layout: { id, columns }, delimiter, behind }: Inside): boolean {
  if (!LINE_END.test(cell)) return false;
  const [, ...lines] = cell.split(/[\r\n]+/);

  function isRow(line: string, at: number): boolean {
    const parts = line.split(delimiter);
    const count = parts.length + (at === lines.length - 1 ? behind : 0);
    // In prose, a space follows a comma.
    if (parts.length < 2 || count !== columns || parts.some((part) => part.startsWith(" "))) return false;
    if (id.length > 0) return id.some((place) => /^-?\d+$/.test(parts[place] ?? ""));
    return !(/\d$/.test(parts[0]!) && /^\d/.test(parts[1]!));
  }

  return id.length > 0 ? lines.some(isRow) : lines.every(isRow);
}

/** The number of cells up to the last one that is not empty. */
function countFilled(cells: readonly Cell[]): number {
  return cells.findLastIndex((cell) => cell !== undefined && cell !== "") + 1;
}

type FaultOptions = Readonly<{ cells: readonly Cell[]; layout: Layout; delimiter: string; bytesMax: number }>;

function toRefusal(fault: Fault, { cells, layout, delimiter, bytesMax }: FaultOptions): PlantStoreError {
  if (fault === "length") return tooLong(bytesMax);
  if (fault === "stray_quote") return new PlantStoreError("malformed_row");
  const named = delimiter === "\t" ? "a tab" : `a ${delimiter}`;
  const message =
    fault === "open_quote"
      ? "The row opens a quote that is not closed where its cell ends: close it, and write each quote inside of a cell twice."
      : `The row has ${countFilled(cells)} cells for ${layout.columns} columns: name a column for each cell, or empty the others. In CSV, put quotes around a cell that holds ${named}.`;
  return new PlantStoreError("malformed_row", { message });
}

type RowOptions = Reader & Readonly<{ line: number; layout: Layout; count: bigint }>;

function toRow(cells: readonly Cell[], { line, layout, count, decode, csv, options }: RowOptions): Row {
  try {
    const given = pick(cells, layout.id, layout);
    const id = isEmpty(given) ? (makeId(cells, { count, decode, csv }) ?? given) : given;
    const name = pick(cells, layout.name, layout) ?? (layout.name.some((at) => at < cells.length) ? "" : undefined);
    const tag = pick(cells, layout.tag, layout);
    if ([given, name, tag].some((cell) => cell?.startsWith(BROKEN_BYTES))) throw invalidBody(BROKEN_CELL);
    if (typeof id === "string" && SHORTENED.test(id)) throw invalidBody(SHORTENED_ID);
    const plant = {
      // Anything but a whole number stays as it is: the check reports it.
      ...(id === undefined ? {} : { id: typeof id === "bigint" ? id : (parseInt64(id.trim()) ?? id) }),
      ...(name === undefined ? {} : { name: decode(name) }),
      ...(tag === undefined || (csv.isEmptyTagNone && tag === "") ? {} : { tag: decode(tag) }),
    };
    return { line, plant: options.parsePlant(plant), isIdMade: csv.ids.kind === "content" && isEmpty(given) };
  } catch (thrown) {
    return { line, refusal: expected(thrown) };
  }
}

/**
 * What xlsx.ts puts before an error, or for a formula without a result, which are nothing that a plant could have. It begins
 * with a noncharacter, which Unicode keeps for use inside of a program.
 */
export const BROKEN = "\ufdd0#";
const BROKEN_BYTES = toByteText(new TextEncoder().encode(BROKEN));

const BROKEN_CELL = "The row has an error such as #N/A, or a formula without its result, in a cell that is imported: correct or empty it.";

/** How spreadsheets write long numbers into CSV, as in 4.00638E+12, and what xlsx.ts puts behind those that Excel rounded. */
const SHORTENED = /^\s*[+-]?\d+(?:[.,]\d+)?e\+\d+\s*$|\(rounded to \d+ digits by Excel\)$/i;

export const SHORTENED_ID =
  "The id is a number that a spreadsheet has shortened, so its last digits are lost: format the column of the ids as text, enter them again, and save the file.";

function isEmpty(cell: Cell): boolean {
  return cell === undefined || cell.trim() === "";
}

/** The id of a row that has none, if the sender wants one. All cells count, so that no two different rows are one plant. */
function makeId(
  cells: readonly Cell[],
  { count, decode, csv: { ids } }: Pick<RowOptions, "count" | "decode" | "csv">,
): bigint | string | undefined {
  // The check reports a number that is too large.
  if (ids.kind === "from") return String(ids.first + count);
  if (ids.kind === "file") return undefined;
  return toContentId(
    cells
      .slice(0, countFilled(cells))
      .map((cell) => toContent(cell ?? "", decode))
      .join("\x1f"),
  );
}

/** What is not UTF-8 still makes a row another one. */
function toContent(cell: string, decode: DecodeCell): string {
  try {
    return decode(cell);
  } catch {
    return cell;
  }
}

/**
 * The first of these cells that is not empty, otherwise one that is quoted and empty. Reports the others that are not
 * empty.
 */
function pick(cells: readonly Cell[], places: readonly number[], { reportUnused }: Layout): Cell {
  if (places.length === 1) return cells[places[0]!];
  const [first, ...others] = places.filter((at) => cells[at] !== undefined && cells[at] !== "");
  others.forEach(reportUnused);
  return first === undefined ? places.map((at) => cells[at]).find((cell) => cell !== undefined) : cells[first];
}
