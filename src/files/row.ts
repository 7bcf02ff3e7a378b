import { PlantStoreError } from "../domain/errors.ts";
import { checkSize } from "../domain/plant-size.ts";
import type { NewPlant } from "../domain/plant.ts";
import { parsePlant } from "../domain/validation.ts";
import type { CellFaults, RefusedLine } from "./cells.ts";
import type { Places } from "./columns.ts";
import type { CsvOptions } from "./csv-options.ts";
import type { Encoding } from "./encodings.ts";

/**
 * One line of a file: a plant, or why it is not one. An id that was made from the content may belong to another plant by
 * accident, and then replaces none.
 */
export type Row = Readonly<{ line: number; plant: NewPlant; isIdMade?: boolean }> | RefusedLine;

/** The rows of a file, some at a time, so that a file of any length takes constant memory. */
export type Rows = AsyncGenerator<readonly Row[], void, void>;

export type ReadOptions = Readonly<{
  /** Checks the content of a line against the contract. Throws a PlantStoreError. */
  parsePlant: (value: unknown) => NewPlant;
  /** A longer line is refused. */
  lineBytesMax: number;
  csv?: CsvOptions;
  /** What the text of cells does not say, by line, if a workbook has become CSV. */
  faults?: ReadonlyMap<number, CellFaults> | undefined;
}>;

/** What is found out about a file while its rows are read. It is complete when they end, or cannot be read. */
export type Findings = {
  /** If it is not UTF-8. */
  encoding?: Encoding;
  /** The names of the columns of CSV, what separates them, and their places if it has those that it needs. */
  names: readonly string[];
  delimiter: string;
  places?: Places;
  /** The first UNUSED_MAX columns, or members of JSON, that are not read, or only in part. */
  readonly unusedColumns: string[];
};

export const UNUSED_MAX = 100;

export function createFindings(): Findings {
  return { names: [], delimiter: "", unusedColumns: [] };
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

/** The refusal of a line that is too long. `isOnly`: it is all of the file. */
export function tooLong(bytesMax: number, isOnly = false): PlantStoreError {
  const more = isOnly ? ", or the file with `--data-binary`, as `curl -d` removes line ends" : "";
  return new PlantStoreError("body_too_large", { message: `The line is longer than ${bytesMax} bytes: send a shorter one${more}.` });
}

/** Passes on what may be wrong with a line. Anything else is a bug and is thrown again. */
export function expected(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  throw thrown;
}
