import { createByteQueue } from "../byte-queue.ts";
import { PlantStoreError } from "../errors.ts";
import { decodeUtf8, parseInt64 } from "../json.ts";
import { toBytes, toByteText } from "./byte-text.ts";
import { createSplitter } from "./csv-parser.ts";
import type { Cell, Fault } from "./csv-parser.ts";
import { expected, inPieces, tooLong } from "./row.ts";
import type { Bytes, ReadOptions, Row, Rows } from "./row.ts";

const DELIMITERS = [",", ";", "\t"] as const;

/**
 * The columns that we know, under our names and those of Darwin Core (dwc.tdwg.org/terms). In each row, the first that
 * is there and not empty counts.
 */
const COLUMNS = { id: ["id", "catalogNumber"], name: ["name", "scientificName", "vernacularName"], tag: ["tag"] } as const;

/** How many unused columns are named, and how many characters of each name. */
const UNUSED_MAX = 100;
const UNUSED_LENGTH_MAX = 100;

/** The positions of the known columns, and the number of all columns. */
type Layout = Readonly<
  Record<keyof typeof COLUMNS, readonly number[]> & {
    columns: number;
    /** Reports, once for each column, that something in it was not read. */
    reportUnused: (at: number) => void;
  }
>;

/**
 * Reads CSV (RFC 4180) whose first line names the columns. Splits the bytes undecoded, one character per byte, and
 * decodes cell by cell: a cell that is not UTF-8 is refused with its line instead of being mended. Throws
 * `invalid_csv_header`.
 */
export async function* readCsv(bytes: Bytes, options: ReadOptions): Rows {
  const { head, all } = await peek(bytes, options.lineBytesMax);
  let rows: Row[] = [];
  let layout: Layout | undefined;
  const delimiter = findDelimiter(head);
  const splitter = createSplitter({
    delimiter,
    bytesMax: options.lineBytesMax,
    onRow(cells, line) {
      if (!layout) {
        layout = toLayout(cells, options);
        return undefined;
      }
      const fault = findFault(cells, layout);
      if (!fault) rows.push(toRow(cells, { line, layout, options }));
      return fault;
    },
    onFault(fault, { line, cells }) {
      if (!layout) throw new PlantStoreError("invalid_csv_header");
      rows.push({ line, refusal: toRefusal(fault, { cells, layout, delimiter, bytesMax: options.lineBytesMax }) });
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

/** The first line, and everything from its start on, both without a byte order mark. */
async function peek(bytes: Bytes, bytesMax: number): Promise<{ head: string; all: Bytes }> {
  const source = bytes[Symbol.asyncIterator]();
  const gathered = createByteQueue();
  for (let isWhole = false; gathered.length() < bytesMax && !isWhole;) {
    const { done, value } = await source.next();
    if (done) break;
    gathered.put(value.slice());
    isWhole = value.includes(0x0a);
  }
  const start = gathered.take();
  const isMarked = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  const first = isMarked ? start.subarray(3) : start;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first;
    yield* { [Symbol.asyncIterator]: () => source };
  }
  const [head = ""] = toByteText(first).split("\n", 1);
  return { head, all: all() };
}

/** The most frequent one in the first line. */
function findDelimiter(head: string): string {
  const counts = DELIMITERS.map((delimiter) => head.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

function toLayout(header: readonly Cell[], { onUnused }: ReadOptions): Layout {
  const names = header.map((cell) => (cell ?? "").trim());
  const lower = names.map((name) => name.toLowerCase());
  const find = (known: readonly string[]) => known.map((name) => lower.indexOf(name.toLowerCase())).filter((at) => at !== -1);
  const places = { id: find(COLUMNS.id), name: find(COLUMNS.name), tag: find(COLUMNS.tag) };
  if (places.id.length === 0 || places.name.length === 0) throw new PlantStoreError("invalid_csv_header");
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

/** Its name, or its position if it has none. */
function toColumnName(name: string, at: number): string {
  if (name === "") return `column ${at + 1}`;
  const letters = Array.from(new TextDecoder().decode(toBytes(name)));
  return letters.slice(0, UNUSED_LENGTH_MAX).join("");
}

/**
 * A row may have fewer cells than there are columns, or more if the additional ones are empty, as spreadsheets write
 * them.
 */
function findFault(cells: readonly Cell[], { id, columns }: Layout): Fault | undefined {
  if (cells.length > columns && countFilled(cells) > columns) return "cells";
  // No id spans several lines: this is an unclosed quote that another quote further down closed.
  return id.some((at) => /[\r\n]/.test(cells[at] ?? "")) ? "open_quote" : undefined;
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
      : `The row has ${countFilled(cells)} cells for ${layout.columns} columns: name them all, or put quotes around a cell that holds ${named}.`;
  return new PlantStoreError("malformed_row", { message });
}

type RowOptions = Readonly<{ line: number; layout: Layout; options: ReadOptions }>;

function toRow(cells: readonly Cell[], { line, layout, options }: RowOptions): Row {
  try {
    const id = pick(cells, layout.id, layout);
    const name = pick(cells, layout.name, layout) ?? (layout.name.some((at) => at < cells.length) ? "" : undefined);
    const tag = pick(cells, layout.tag, layout);
    const plant = {
      // Anything but a whole number stays as it is: the check reports it.
      ...(id === undefined ? {} : { id: parseInt64(id.trim()) ?? id }),
      ...(name === undefined ? {} : { name: decode(name) }),
      ...(tag === undefined ? {} : { tag: decode(tag) }),
    };
    return { line, plant: options.parsePlant(plant) };
  } catch (thrown) {
    return { line, refusal: expected(thrown) };
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

function decode(cell: string): string {
  return /[^\0-\x7f]/.test(cell) ? decodeUtf8(toBytes(cell)) : cell;
}

type Writing = Readonly<{ guardFormulas: boolean }>;

/** Writes plants as rows. Quotes only where they are needed, and for an empty tag, which is not the same as none. */
export function csvWriter({ guardFormulas }: Writing): (plant: { id: bigint; name: string; tag?: string }) => string {
  const write = guardFormulas ? (text: string) => quote(guard(text)) : quote;
  return ({ id, name, tag }) => `${id},${write(name)},${tag === undefined ? "" : tag === "" ? '""' : write(tag)}\n`;
}

/**
 * Text that begins like this may be a formula to a spreadsheet. Some read the full-width signs too
 * (owasp.org/www-community/attacks/CSV_Injection). An id is a number and never guarded.
 */
function guard(text: string): string {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
}

function quote(text: string): string {
  return /[",;\t\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
