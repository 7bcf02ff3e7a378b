import type { PlantStoreError } from "../domain/errors.ts";
import type { CellFaults, CellRow, CellSource, RefusedLine } from "./cells.ts";
import { quote } from "./csv-writer.ts";
import { createFindings, tooLong } from "./row.ts";
import type { ReadOptions } from "./row.ts";
import { createTableReader } from "./table.ts";

/** The rows of a sheet that have cells, some at a time. */
export type SheetRows = AsyncGenerator<readonly CellRow[], void, void>;

/** How the cells of a sheet are read: they are text already. */
const CELLS = { decode: (cell: string) => cell, delimiter: ",", isOneLine: false } as const satisfies Omit<CellSource, "rows">;

const utf8 = new TextEncoder();

/** The cells of a sheet. A row may be as long as in CSV. */
export function openSheetCells(sheet: SheetRows, lineBytesMax: number): CellSource {
  async function* rows(): CellSource["rows"] {
    for await (const some of sheet) yield some.map((row) => limitLength(row, lineBytesMax));
  }
  return { ...CELLS, rows: rows() };
}

function limitLength(row: CellRow, bytesMax: number): CellRow | RefusedLine {
  const length = row.cells.reduce((sum, cell = "") => sum + cell.length + 1, 0);
  const isTooLong = length * 3 > bytesMax && utf8.encode(row.cells.join(",")).length > bytesMax;
  return isTooLong ? { line: row.line, refusal: tooLong(bytesMax) } : row;
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
  const reader = createTableReader(CELLS, options, createFindings());
  yield* toLines(sheet, (row) => {
    const read = reader.read(limitLength(row, options.lineBytesMax));
    if (!row.faults || !read || !("refusal" in read)) return toLine(row);
    reasons.set(row.line, read.refusal);
    return REFUSED_LINE;
  });
  reader.end();
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
