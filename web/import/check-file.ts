import { detectFormat, HEAD_BYTES } from "../../src/client/client.ts";
import type { FileFormat } from "../../src/client/client.ts";
import { PlantStoreError } from "../../src/errors.ts";
import type { NewPlant } from "../../src/plant.ts";
import { readRows } from "./file-rows.ts";

/** Why a line will be refused, or was. */
export type Problem = Readonly<{ line: number; error: number; message: string }>;

/** Some rows of a file, one behind the other: their bytes, and the line on which they begin. */
export type Slice = Readonly<{ start: number; end: number; line: number; rows: number }>;

/** A file that was read to its end, here, before anything is sent. */
export type CheckedFile = Readonly<{
  file: File;
  format: FileFormat;
  /** The first line of CSV with all before the first row, which each slice needs in front of it. */
  header: Readonly<{ bytes: number; lines: number }>;
  slices: readonly Slice[];
  rows: number;
  refused: number;
  /** The first plants and problems. */
  plants: readonly NewPlant[];
  problems: readonly Problem[];
  /** Columns that are not imported. */
  unusedColumns: readonly string[];
  /** Why nothing of the file can be read. */
  failure: string | undefined;
}>;

type CheckOptions = Readonly<{ signal: AbortSignal; onRows: (rows: number, bytes: number) => void }>;

const PLANTS_SHOWN = 5;
const PROBLEMS_SHOWN = 100;

/** What is sent at once: small enough to tell how far it is, and to be told of every line that is refused. */
const SLICE_ROWS = 1_000;
const SLICE_BYTES = 1_000_000;

/** How long to work before the page gets its turn. */
const TURN_MS = 12;

/** Reads the whole file without holding up the page. */
export async function checkFile(file: File, { signal, onRows }: CheckOptions): Promise<CheckedFile> {
  const format = detectFormat(file.name, new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer()));
  const slices: Slice[] = [];
  const plants: NewPlant[] = [];
  const problems: Problem[] = [];
  const unusedColumns: string[] = [];
  let header = { bytes: 0, lines: 0 };
  let slice = { start: 0, line: 1, rows: 0 };
  let rows = 0;
  let refused = 0;
  let turnAt = performance.now();
  let failure: string | undefined;
  try {
    for await (const placed of readRows(file, { format, onUnused: (column) => unusedColumns.push(column) })) {
      for (const { row, start } of placed) {
        if (rows === 0 && format === "csv") {
          header = { bytes: start, lines: row.line - 1 };
          slice = { start, line: row.line, rows: 0 };
        }
        if (slice.rows >= SLICE_ROWS || start - slice.start >= SLICE_BYTES) {
          slices.push({ ...slice, end: start });
          slice = { start, line: row.line, rows: 0 };
        }
        slice.rows += 1;
        rows += 1;
        if ("plant" in row) {
          if (plants.length < PLANTS_SHOWN) plants.push(row.plant);
          continue;
        }
        refused += 1;
        const { number: error, message } = row.refusal;
        if (problems.length < PROBLEMS_SHOWN) problems.push({ line: row.line, error, message });
      }
      if (performance.now() - turnAt > TURN_MS) {
        onRows(rows, placed.at(-1)?.start ?? 0);
        await new Promise((resolve) => setTimeout(resolve));
        turnAt = performance.now();
      }
      signal.throwIfAborted();
    }
    if (slice.rows > 0) slices.push({ ...slice, end: file.size });
  } catch (thrown) {
    if (!(thrown instanceof PlantStoreError)) throw thrown;
    failure = thrown.message;
  }
  return { file, format, header, slices, rows, refused, plants, problems, unusedColumns, failure };
}
