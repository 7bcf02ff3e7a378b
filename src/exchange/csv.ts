import { parse } from "csv-parse";
import type { CsvError } from "csv-parse";
import { PlantStoreError } from "../errors.ts";
import { decodeUtf8, parseInt64 } from "../json.ts";
import { expected, tooLong } from "./ndjson.ts";
import type { Bytes, ReadOptions, Row, Rows } from "./row.ts";

const DELIMITERS = [",", ";", "\t"] as const;

/** The columns that we know, in our own words and those of Darwin Core (dwc.tdwg.org/terms). The first that a file has and that is not empty counts. */
const COLUMNS = { id: ["id", "catalogNumber"], name: ["name", "scientificName", "vernacularName"], tag: ["tag"] } as const;

/** A cell; undefined when it is empty and has no quotes. One letter stands for one byte. */
type Cell = string | undefined;

/** Where the known columns are. */
type Layout = Readonly<Record<keyof typeof COLUMNS, readonly number[]>>;

/**
 * Reads CSV (RFC 4180) whose first line names the columns. The bytes go through the parser as they are, a letter a byte, and are decoded cell
 * by cell, so that a cell that is no UTF-8 is refused with its line instead of being mended. Throws `invalid_csv_header`.
 */
export async function* readCsv(bytes: Bytes, options: ReadOptions): Rows {
  const { head, all } = await peek(bytes, options.lineBytesMax);
  let rows: Row[] = [];
  let layout: Layout | undefined;
  let headerError: unknown;
  const parser = parse({
    delimiter: findDelimiter(head),
    encoding: "latin1",
    cast: (value, { quoting }) => (quoting || value !== "" ? value : undefined),
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: options.lineBytesMax,
    on_skip: (error) => void rows.push(toRefusal(error, options.lineBytesMax)),
    on_record(cells: readonly Cell[], { lines }) {
      try {
        if (layout) rows.push(toRow(cells, { line: lines, layout, options }));
        else layout = toLayout(cells);
      } catch (thrown) {
        headerError ??= thrown;
      }
      return null;
    },
  });
  const ended = new Promise<void>((resolve, reject) => parser.on("end", resolve).on("error", reject));
  // Failures are met where the parser is waited for.
  ended.catch(() => {});
  parser.resume();

  for await (const chunk of all) {
    if (!parser.write(chunk)) await new Promise((resolve) => parser.once("drain", resolve));
    if (headerError) throw headerError;
    yield rows;
    rows = [];
  }
  parser.end();
  await ended;
  if (headerError) throw headerError;
  if (!layout) throw new PlantStoreError("invalid_csv_header");
  yield rows;
}

/** The first line, without a byte order mark, and everything from there on. */
async function peek(bytes: Bytes, bytesMax: number): Promise<{ head: string; all: Bytes }> {
  const source = bytes[Symbol.asyncIterator]();
  let start: Uint8Array = new Uint8Array();
  while (start.length < bytesMax && !start.includes(0x0a)) {
    const { done, value } = await source.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  const isMarked = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  const first = isMarked ? start.subarray(3) : start;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first;
    yield* { [Symbol.asyncIterator]: () => source };
  }
  const [head = ""] = Buffer.from(first).toString("latin1").split("\n", 1);
  return { head, all: all() };
}

/** The one that the first line has most of. */
function findDelimiter(head: string): string {
  const counts = DELIMITERS.map((delimiter) => head.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

function toLayout(header: readonly Cell[]): Layout {
  const names = header.map((cell) => cell?.trim().toLowerCase());
  const find = (known: readonly string[]) => known.map((name) => names.indexOf(name.toLowerCase())).filter((at) => at !== -1);
  const layout = { id: find(COLUMNS.id), name: find(COLUMNS.name), tag: find(COLUMNS.tag) };
  if (layout.id.length === 0 || layout.name.length === 0) throw new PlantStoreError("invalid_csv_header");
  return layout;
}

type RowOptions = Readonly<{ line: number; layout: Layout; options: ReadOptions }>;

function toRow(cells: readonly Cell[], { line, layout, options }: RowOptions): Row {
  try {
    const id = pick(cells, layout.id);
    const name = pick(cells, layout.name) ?? (layout.name.some((at) => at < cells.length) ? "" : undefined);
    const tag = pick(cells, layout.tag);
    const plant = {
      // What is no whole number is left as it is for the check to name.
      ...(id === undefined ? {} : { id: parseInt64(id.trim()) ?? id }),
      ...(name === undefined ? {} : { name: decode(name) }),
      ...(tag === undefined ? {} : { tag: decode(tag) }),
    };
    return { line, plant: options.parsePlant(plant) };
  } catch (thrown) {
    return { line, refusal: expected(thrown) };
  }
}

/** The first of these cells that is not empty, or else one that is empty in quotes. */
function pick(cells: readonly Cell[], places: readonly number[]): Cell {
  if (places.length === 1) return cells[places[0]!];
  const found = places.map((at) => cells[at]);
  return found.find((cell) => cell !== undefined && cell !== "") ?? found.find((cell) => cell !== undefined);
}

function decode(cell: string): string {
  return /[^\0-\x7f]/.test(cell) ? decodeUtf8(Buffer.from(cell, "latin1")) : cell;
}

function toRefusal(error: CsvError | undefined, lineBytesMax: number): Row {
  const line = Number(error?.["lines"] ?? 0);
  return {
    line,
    refusal: error?.code === "CSV_MAX_RECORD_SIZE" ? tooLong(lineBytesMax) : new PlantStoreError("malformed_row", { cause: error }),
  };
}

/** Writes a plant as a row: quotes only where they are needed, and around an empty tag, which is not the same as none. */
export function toCsvRow({ id, name, tag }: { id: bigint; name: string; tag?: string }): string {
  return `${id},${quote(name)},${tag === undefined ? "" : tag === "" ? '""' : quote(tag)}\n`;
}

function quote(text: string): string {
  return /[",;\t\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
