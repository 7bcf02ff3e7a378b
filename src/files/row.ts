import { PlantStoreError } from "../domain/errors.ts";
import type { NewPlant } from "../domain/plant.ts";
import type { CellFaults } from "./cell-row.ts";
import type { Places } from "./columns.ts";
import type { CsvReading } from "./csv-reading.ts";
import type { Encoding } from "./encodings.ts";

/**
 * One line of a file, counted from 1: a plant, or why it is not one. An id that was made from the content may belong to
 * another plant by accident, and then replaces none.
 */
export type Row = Readonly<{ line: number; plant: NewPlant; isIdMade?: boolean }> | Readonly<{ line: number; refusal: PlantStoreError }>;

/** The rows of a file, some at a time, so that a file of any length takes constant memory. */
export type Rows = AsyncGenerator<readonly Row[], void, void>;

export type ReadOptions = Readonly<{
  /** Checks the content of a line against the contract. Throws a PlantStoreError. */
  parsePlant: (value: unknown) => NewPlant;
  /** A longer line is refused. */
  lineBytesMax: number;
  /** Called once for each of the first UNUSED_MAX columns, or members of JSON, that are not read, or only in part. */
  onUnused: (column: string) => void;
  /** Called with the names of the columns of CSV and what separates them; then with their places, if it has those that it needs. */
  onNames?: (names: readonly string[], delimiter: string) => void;
  onPlaces?: (places: Places, names: readonly string[]) => void;
  /** Called once if the file turns out not to be UTF-8. */
  onEncoding?: (encoding: Encoding) => void;
  csv?: CsvReading;
  /** What the text of cells does not say, by line, if a workbook has become CSV. */
  faults?: ReadonlyMap<number, CellFaults> | undefined;
}>;

/** How many unused columns or members are named. */
export const UNUSED_MAX = 100;

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
