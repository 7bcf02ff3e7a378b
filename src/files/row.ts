import { PlantStoreError } from "../domain/errors.ts";
import { checkSize } from "../domain/plant-size.ts";
import type { NewPlant } from "../domain/plant.ts";
import { parsePlant } from "../domain/validation.ts";
import type { RefusedLine } from "./cells.ts";
import type { ColumnChoice, Layout } from "./reading/columns.ts";
import type { Asked, Doubt, Ids, Reading } from "./reading/reading.ts";

/**
 * One line of a file: a plant, or why it is not one. An id that was made from the content may belong to another plant by
 * accident, and then replaces none.
 */
export type Row = Readonly<{ line: number; plant: NewPlant; isIdMade?: boolean }> | RefusedLine;

/** The rows of a file, some at a time, so that a file of any length takes constant memory. */
export type Rows = AsyncGenerator<readonly Row[], void, void>;

/** CSV whose first line names our columns, or is a plant: what the interface reads if it is not asked to guess. */
export type Plain = Readonly<{
  hasHeader: boolean;
  columns: ColumnChoice;
  ids: Ids;
  encoding: "utf-8" | "windows-1252";
  /** Whether a quoted empty tag means none. */
  dropEmptyTags: boolean;
}>;

export const PLAIN: Plain = { hasHeader: true, columns: {}, ids: { kind: "file" }, encoding: "utf-8", dropEmptyTags: false };

export type ReadOptions = Readonly<{
  /** Checks the content of a line against the contract. Throws a PlantStoreError. */
  parsePlant: (value: unknown) => NewPlant;
  /** A longer line is refused. */
  lineBytesMax: number;
  /** How a table is read: what is not asked for is guessed, if it is not `plain`. */
  table?: Readonly<{ plain: Plain }> | Readonly<{ asked: Asked; /** Also in our exports. */ dropEmptyTags?: boolean }>;
}>;

/** What is found out about a file while its rows are read. It is complete when they end, or cannot be read. */
export type Findings = {
  /** If it is not UTF-8. */
  encoding?: string;
  /** The columns of a table, and how it is read if that was not plain. */
  layout?: Layout;
  text?: Pick<Reading, "encoding" | "separator" | "quotes">;
  sheet?: string;
  reading?: Reading;
  /** The first rows that are not blank, one of which may name the columns. */
  firstRows?: ReadonlyArray<Readonly<{ line: number; cells: readonly string[] }>>;
  /** The first UNUSED_MAX columns, or members of JSON, that are not read, or only in part. */
  readonly unusedColumns: string[];
  /** How many rows are no plants: blank ones, and those above the heading. */
  skipped: number;
  /** Those of the whole file, and the first ROW_DOUBTS_MAX of rows. */
  readonly doubts: Doubt[];
  rowDoubts: number;
};

export const UNUSED_MAX = 100;
export const ROW_DOUBTS_MAX = 100;

export function createFindings(): Findings {
  return { unusedColumns: [], skipped: 0, doubts: [], rowDoubts: 0 };
}

/** Notes what is not certain: of the row that begins on this line, or of the whole file. */
export function addDoubt(findings: Findings, message: string, line?: number): void {
  if (line === undefined) findings.doubts.push({ message });
  else if ((findings.rowDoubts += 1) <= ROW_DOUBTS_MAX) findings.doubts.push({ line, message });
}

/**
 * The rest of a line: the id, the names of the fields, and what stands around them.
 *
 * @limit files: bytes of a line of an import, besides twice the largest body
 */
const REST_BYTES = 100;

/**
 * What a file may hold, for plants of so many bytes. A line may be twice as long, because a name of quotes takes twice
 * its bytes: whatever is stored, an export of it can be imported.
 */
export function fileLimits(plantBytesMax: number): Pick<ReadOptions, "parsePlant" | "lineBytesMax"> {
  return {
    lineBytesMax: 2 * plantBytesMax + REST_BYTES,
    parsePlant(value) {
      const plant = parsePlant(value);
      checkSize(plant, plantBytesMax);
      return plant;
    },
  };
}

/** What a service accepts is for it to say: before that, only what no service takes is refused. */
export const SENDER_LIMITS = fileLimits(16 * 1024 * 1024);

/** The refusal of a line that is too long. `isOnly`: it is all of the file. */
export function tooLong(bytesMax: number, isOnly = false): PlantStoreError {
  const more = isOnly ? ", or the file with `--data-binary`, as `curl -d` removes line ends" : "";
  return new PlantStoreError("body_too_large", { message: `The line is longer than ${bytesMax} bytes: send a shorter one${more}.` });
}

/** Why a row is not well formed: a quote where none may be; a quote that is not closed properly, or not within the limit; too long. */
export type Fault = "stray_quote" | "open_quote" | "length";

export function toRefusal(fault: Fault, bytesMax: number): PlantStoreError {
  if (fault === "length") return tooLong(bytesMax);
  return new PlantStoreError("malformed_row", fault === "open_quote" ? { message: OPEN_QUOTE } : {});
}

const OPEN_QUOTE = "The row opens a quote that is not closed where its cell ends: close it, and write each quote inside of a cell twice.";

/** Passes on what may be wrong with a line. Anything else is a bug and is thrown again. */
export function expected(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  throw thrown;
}
