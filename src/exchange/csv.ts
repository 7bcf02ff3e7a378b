import { PlantStoreError } from "../errors.ts";
import { decodeUtf8, parseInt64 } from "../json.ts";
import { createSplitter } from "./cells.ts";
import type { Cell } from "./cells.ts";
import { expected, inPieces, tooLong } from "./row.ts";
import type { Bytes, ReadOptions, Row, Rows } from "./row.ts";

const DELIMITERS = [",", ";", "\t"] as const;

/** The columns that we know, in our own words and those of Darwin Core (dwc.tdwg.org/terms). The first that a file has and that is not empty counts. */
const COLUMNS = { id: ["id", "catalogNumber"], name: ["name", "scientificName", "vernacularName"], tag: ["tag"] } as const;

/** Where the known columns are. */
type Layout = Readonly<Record<keyof typeof COLUMNS, readonly number[]>>;

/**
 * Reads CSV (RFC 4180) whose first line names the columns. The bytes are split as they are, a letter a byte, and are decoded cell
 * by cell, so that a cell that is no UTF-8 is refused with its line instead of being mended. Throws `invalid_csv_header`.
 */
export async function* readCsv(bytes: Bytes, options: ReadOptions): Rows {
  const { head, all } = await peek(bytes, options.lineBytesMax);
  let rows: Row[] = [];
  let layout: Layout | undefined;
  const splitter = createSplitter({
    delimiter: findDelimiter(head),
    bytesMax: options.lineBytesMax,
    onRow(cells, line) {
      if (layout) rows.push(toRow(cells, { line, layout, options }));
      else layout = toLayout(cells);
    },
    onFault(code, line) {
      if (!layout) throw new PlantStoreError("invalid_csv_header");
      rows.push({ line, refusal: code === "body_too_large" ? tooLong(options.lineBytesMax) : new PlantStoreError(code) });
    },
  });
  for await (const chunk of inPieces(all)) {
    splitter.feed(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1"));
    yield rows;
    rows = [];
  }
  splitter.end();
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

/** Writes a plant as a row: quotes only where they are needed, and around an empty tag, which is not the same as none. */
export function toCsvRow({ id, name, tag }: { id: bigint; name: string; tag?: string }): string {
  return `${id},${quote(name)},${tag === undefined ? "" : tag === "" ? '""' : quote(tag)}\n`;
}

function quote(text: string): string {
  return /[",;\t\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
