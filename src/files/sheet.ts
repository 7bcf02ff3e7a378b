import type { PlantStoreError } from "../domain/errors.ts";
import type { CellFaults, CellRow } from "./cell-row.ts";
import { PLAIN } from "./csv-reading.ts";
import { quote } from "./csv-writer.ts";
import { tooLong } from "./row.ts";
import type { ReadOptions, Row, Rows } from "./row.ts";
import { createTableReader } from "./table-reader.ts";

/** The rows of a sheet that have cells, some at a time. */
export type SheetRows = AsyncGenerator<readonly CellRow[], void, void>;

const utf8 = new TextEncoder();

/** Reads the rows of a sheet. Throws `invalid_csv_header`. */
export async function* readSheet(sheet: SheetRows, options: ReadOptions): Rows {
  const reader = openReader(options);
  for await (const some of sheet) yield some.map(reader.read).filter((row) => row !== undefined);
  reader.end();
}

/** A sheet as CSV, whose lines have the numbers of its rows. What text cannot say of the cells is added to `faults`, by line. */
export function toCsv(sheet: SheetRows, faults: Map<number, CellFaults>): AsyncGenerator<Uint8Array, void, void> {
  return toLines(sheet, (row) => {
    if (row.faults) faults.set(row.line, row.faults);
    return toLine(row);
  });
}

/** No row of CSV: there is text behind the closing quote. */
export const REFUSED_LINE = '""!';

/**
 * A sheet as CSV for a service, which knows no faults of cells. A row that these refuse is a line that a service refuses as
 * well; why is added to `reasons`, by line. Throws `invalid_csv_header`.
 */
export async function* toSentCsv(
  sheet: SheetRows,
  options: ReadOptions,
  reasons: Map<number, PlantStoreError>,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = openReader(options);
  yield* toLines(sheet, (row) => {
    const read = reader.read(row);
    if (!row.faults || !read || !("refusal" in read)) return toLine(row);
    reasons.set(row.line, read.refusal);
    return REFUSED_LINE;
  });
  reader.end();
}

/** Cells are text already. A row may be as long as in CSV. */
function openReader(options: ReadOptions): Readonly<{ read: (row: CellRow) => Row | undefined; end: () => void }> {
  const reader = createTableReader({ delimiter: ",", decode: (cell) => cell, csv: options.csv ?? PLAIN, options, isOneLine: false });
  const { lineBytesMax } = options;
  function isTooLong({ cells }: CellRow): boolean {
    const length = cells.reduce((sum, cell = "") => sum + cell.length + 1, 0);
    return length * 3 > lineBytesMax && utf8.encode(cells.join(",")).length > lineBytesMax;
  }
  return {
    read: (row) => (isTooLong(row) ? reader.refuse(row.line, tooLong(lineBytesMax)) : reader.read(row)),
    end: reader.end,
  };
}

function toLine({ cells }: CellRow): string {
  return cells.map((cell = "") => quote(cell)).join(",");
}

/** How much is made at once, in characters: few rows may become much CSV. */
const CSV_LENGTH = 1_000_000;

async function* toLines(sheet: SheetRows, write: (row: CellRow) => string): AsyncGenerator<Uint8Array, void, void> {
  let line = 1;
  for await (const some of sheet) {
    let text = "";
    for (const row of some) {
      text += `${"\n".repeat(row.line - line)}${write(row)}\n`;
      line = row.line + 1;
      if (text.length < CSV_LENGTH) continue;
      yield utf8.encode(text);
      text = "";
    }
    yield utf8.encode(text);
  }
}
