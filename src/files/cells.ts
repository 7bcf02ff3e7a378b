import type { PlantStoreError } from "../domain/errors.ts";
import { parseInt64 } from "../domain/json.ts";

/** The text of a cell; undefined if it is empty and not quoted. */
export type Cell = string | undefined;

/** What a cell of a workbook may be, besides a text, that no plant can have: an error, or a number that Excel has rounded. */
export type CellFault = "error" | "rounded";

/** Those of a row, by the positions of their cells. */
export type CellFaults = ReadonlyMap<number, CellFault>;

/** A row of cells, and the line on which it begins, counted from 1. */
export type CellRow = Readonly<{ line: number; cells: readonly Cell[]; faults?: CellFaults | undefined }>;

/** A line that is no row, or no plant. */
export type RefusedLine = Readonly<{ line: number; refusal: PlantStoreError }>;

/** Where rows of cells come from: CSV, or the sheet of a workbook. */
export type CellSource = Readonly<{
  /** Some at a time, so that a file of any length takes constant memory. */
  rows: AsyncGenerator<ReadonlyArray<CellRow | RefusedLine>, void, void>;
  /** Cells are decoded only when they are needed: a text that is broken may be in a column that is not. Throws `invalid_unicode`. */
  decode: (cell: string) => string;
  /** What separates the cells, to be named in messages. */
  delimiter: string;
  /** Whether the file is one line without an end. */
  isOneLine: boolean;
}>;

export function isEmpty(cell: Cell): boolean {
  return cell === undefined || cell.trim() === "";
}

/** The number of cells up to the last one that is not empty. */
export function countFilled(cells: readonly Cell[]): number {
  return cells.findLastIndex((cell) => cell !== undefined && cell !== "") + 1;
}

/** How spreadsheets write long numbers into CSV, as in 4.00638E+12. */
const SHORTENED = /^\s*[+-]?\d+(?:[.,]\d+)?e\+\d+\s*$/i;

/** Whether it is no id because it was a longer one. */
export function isShortened(cell: string): boolean {
  return SHORTENED.test(cell) || isFloat(cell);
}

/** Whether a float has rounded it, as pandas writes it (9007199254740992.0) and Java (9.223372036854775E18). */
function isFloat(cell: string): boolean {
  return /[.e]/i.test(cell) && Math.abs(Number(cell)) > Number.MAX_SAFE_INTEGER;
}

/**
 * Whether its digits are in groups. `1.000` may be a thousand, as a German spreadsheet writes it. Other signs between them,
 * such as the narrow space of a French one, are up to three bytes.
 */
export function isGrouped(cell: string): boolean {
  return /^\s*[+-]?\d{1,3}(([.,' ]|[^\0-\x7f]{1,3})\d{3})+\s*$/.test(cell);
}

/** Whether a cell may be meant as an id. */
export function isLikeId(cell: Cell): boolean {
  return isEmpty(cell) || parseInt64(cell!.trim()) !== undefined || isShortened(cell!) || isGrouped(cell!);
}
