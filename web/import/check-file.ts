import type { FileFormat } from "../../src/client/client.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import type { CellFaults } from "../../src/files/cells.ts";
import { FOREIGN_TEXT } from "../../src/files/cell-decoder.ts";
import { FIELDS } from "../../src/files/columns.ts";
import type { ColumnChoice, Places } from "../../src/files/columns.ts";
import { PLAIN } from "../../src/files/csv-options.ts";
import type { CsvOptions } from "../../src/files/csv-options.ts";
import { createFindings } from "../../src/files/row.ts";
import { readRows } from "./file-rows.ts";
import { findRepeats } from "./repeats.ts";
import type { Repeat } from "./repeats.ts";

/** Why a line will be refused, or was. */
export type Problem = Readonly<{ line: number; error: number; message: string }>;

/** Some rows of a file, one behind the other: their bytes, the line on which they begin, and how many rows are before. */
export type Slice = Readonly<{ start: number; end: number; line: number; rows: number; before: number }>;

/** An id that was made replaces no plant. */
export type RepeatedRow = Repeat & Readonly<{ isIdMade: boolean }>;

/** A file that was read to its end, here, before anything is sent. */
export type CheckedFile = Readonly<{
  file: File;
  format: FileFormat;
  /**
   * What each slice of CSV needs in front of it: so many bytes of the file, all before the first row; then the names of the
   * columns, if the file has none but a row that shows how many there are. `lines`: how many lines that is.
   */
  header: Readonly<{ bytes: number; names: string; lines: number }>;
  faults: ReadonlyMap<number, CellFaults>;
  /** Why rows are refused for such a fault, by line: the service cannot know. */
  reasons: ReadonlyMap<number, Problem>;
  slices: readonly Slice[];
  rows: number;
  refused: number;
  /** The first plants and problems. */
  plants: readonly Readonly<{ plant: NewPlant; row: number }>[];
  problems: readonly Problem[];
  /** The lines of all rows. */
  lines: readonly number[];
  /** Rows that have the id of an earlier one, by their position. */
  repeats: ReadonlyMap<number, RepeatedRow>;
  /** How CSV was read: with the encoding that it turned out to have, and the columns that were taken. */
  csv: CsvOptions;
  /** The columns of CSV, and what they are taken for. */
  names: readonly string[];
  places: Places | undefined;
  /** Columns that are not imported. */
  unusedColumns: readonly string[];
  /** Why nothing of the file can be read. */
  failure: string | undefined;
}>;

export type CheckOptions = Readonly<{
  signal: AbortSignal;
  onRows?: (rows: number, bytes: number) => void;
  format: FileFormat;
  csv?: CsvOptions;
  /** What the text of a workbook's cells does not say, by line. */
  faults?: ReadonlyMap<number, CellFaults>;
}>;

const NO_FAULTS: CheckedFile["faults"] = new Map();
const PLANTS_SHOWN = 5;
const PROBLEMS_SHOWN = 100;

/** What is sent at once: small enough to tell how far it is, and to be told of every line that is refused. */
const SLICE_ROWS = 1_000;
const SLICE_BYTES = 1_000_000;

/** How long to work before the page gets its turn. */
const TURN_MS = 12;

/** Reads the whole file without holding up the page. */
export async function checkFile(file: File, options: CheckOptions): Promise<CheckedFile> {
  const { signal, onRows, format, csv: asked = PLAIN, faults = NO_FAULTS } = options;
  const slices: Slice[] = [];
  const plants: { plant: NewPlant; row: number }[] = [];
  const lines: number[] = [];
  const repeats = new Map<number, RepeatedRow>();
  const seen = findRepeats();
  const problems: Problem[] = [];
  const reasons = new Map<number, Problem>();
  const findings = createFindings();
  let header = { bytes: 0, names: "", lines: 0 };
  let slice = { start: 0, line: 1, rows: 0, before: 0 };
  const mark = await markOf(file);
  let rows = 0;
  let refused = 0;
  let isForeign = false;
  let turnAt = performance.now();
  let failure: string | undefined;
  try {
    for await (const placed of readRows(file, { format, csv: asked, faults }, findings)) {
      for (const { row, start } of placed) {
        if (rows === 0 && format === "csv") {
          const bytes = Math.max(start, mark);
          header = { bytes, names: "", lines: row.line - 1 };
          slice = { start: bytes, line: row.line, rows: 0, before: 0 };
        }
        if (slice.rows >= SLICE_ROWS || start - slice.start >= SLICE_BYTES) {
          slices.push({ ...slice, end: start });
          slice = { start, line: row.line, rows: 0, before: rows };
        }
        slice.rows += 1;
        lines.push(row.line);
        rows += 1;
        if ("plant" in row) {
          const repeat = seen.see(row.plant, rows - 1);
          if (repeat) repeats.set(rows - 1, { ...repeat, isIdMade: row.isIdMade === true });
          if (plants.length < PLANTS_SHOWN) plants.push({ plant: row.plant, row: rows - 1 });
          continue;
        }
        refused += 1;
        const { number: error, message } = row.refusal;
        isForeign ||= message === FOREIGN_TEXT;
        const problem = { line: row.line, error, message };
        if (faults.has(row.line)) reasons.set(row.line, problem);
        if (problems.length < PROBLEMS_SHOWN) problems.push(problem);
      }
      if (performance.now() - turnAt > TURN_MS) {
        onRows?.(rows, placed.at(-1)?.start ?? 0);
        await new Promise((resolve) => setTimeout(resolve));
        turnAt = performance.now();
      }
      signal.throwIfAborted();
    }
    // Only now are they known: rows before the first that is whole are refused, and may be long.
    const { names, places, delimiter } = findings;
    if (!asked.hasHeader && places) header = { ...header, names: toHeader(names, places, delimiter), lines: header.lines + 1 };
    if (slice.rows > 0) slices.push({ ...slice, end: file.size });
  } catch (thrown) {
    if (!(thrown instanceof PlantStoreError)) throw thrown;
    failure = thrown.message;
  }
  // Each slice is sent by itself, and knows of no other: what is not UTF-8 is refused in all of them.
  if (isForeign) return checkFile(file, { ...options, csv: { ...asked, encoding: "utf-8" } });
  const { names, places, unusedColumns, encoding } = findings;
  const csv = {
    ...asked,
    // What is in UTF-16 was made UTF-8 when the file was opened.
    encoding: encoding === undefined ? (asked.encoding ?? "utf-8") : ("windows-1252" as const),
    guess: places ? false : asked.guess,
    columns: places ? toChoice(names, places) : asked.columns,
  };
  const read = { slices, rows, refused, plants, problems, lines, repeats, names, places, unusedColumns, failure };
  return { file, format, header, faults, reasons, csv, ...read };
}

/** How many bytes say that it is UTF-8. */
async function markOf(file: Blob): Promise<number> {
  const [first, second, third] = new Uint8Array(await file.slice(0, 3).arrayBuffer());
  return first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0;
}

/** A line that names columns which have no names, so that they are taken for the same. A single one is followed by the delimiter, too. */
function toHeader(names: readonly string[], places: Places, delimiter: string): string {
  const named = names.map((name, at) => FIELDS.find((field) => places[field].includes(at)) ?? name);
  return `${named.join(delimiter)}${named.length === 1 ? delimiter : ""}\n`;
}

/** The columns that were taken. Where several are taken for one field, the service finds them by itself. */
function toChoice(names: readonly string[], places: Places): ColumnChoice {
  const keys = columnKeys(names);
  const chosen = FIELDS.filter((field) => places[field].length < 2).map((field) => [field, keys[places[field][0] ?? -1] ?? ""] as const);
  return Object.fromEntries(chosen);
}

/** How each column is called: by its name, if only it has this one, or its position. */
export function columnKeys(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  const isOnly = (name: string) => name !== "" && name.length <= KEY_LENGTH_MAX && counts.get(name.toLowerCase()) === 1;
  return names.map((name, at) => (isOnly(name) ? name : `column ${at + 1}`));
}

const KEY_LENGTH_MAX = 200;
