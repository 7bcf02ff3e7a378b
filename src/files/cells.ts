import type { PlantStoreError } from "../domain/errors.ts";
import { parseInt64 } from "../domain/json.ts";

/** The text of a cell; undefined if it is empty and not quoted. */
export type Cell = string | undefined;

/**
 * What a cell of a workbook may be, besides a text: an error, or a number that Excel has rounded, which no plant can have;
 * or a number whose owner sees it otherwise, as we do not know all formats.
 */
export type CellFault = "error" | "rounded" | "doubtful";

/** Those of a row, by the positions of their cells. */
type CellFaults = ReadonlyMap<number, CellFault>;

/** A row of cells, and the line on which it begins, counted from 1. */
export type CellRow = Readonly<{
  line: number;
  cells: readonly Cell[];
  faults?: CellFaults | undefined;
  /** The cells that only repeat the one to their left, as both are merged: a title over a table is one cell for people. */
  repeated?: ReadonlySet<number>;
  /** The positions of cells that are meant as text, though programs write it for none, such as `NULL`: those in quotes. */
  literal?: readonly number[];
  /** Whether a cell without quotes has spaces around it, as none has in our exports. */
  isLoose?: boolean;
  /** Whether a spreadsheet does not show it. */
  isHidden?: boolean;
}>;

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
  /** The names of the columns, if another file says them. */
  names?: readonly string[];
  /** Whether it begins like an export, whose cells are meant as they stand. */
  isExport?: boolean;
}>;

/** U+001A is what DOS ends a file with. */
export function isEmpty(cell: Cell): boolean {
  return cell === undefined || cell === "\x1a" || cell.trim() === "";
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

/** Whether it is a whole number as people write one: neither `0012` nor `1E3`, which are codes, nor `2004.0`. */
export function isId(text: string | undefined): boolean {
  return text !== undefined && /^-?(?:0|[1-9]\d{0,18})$/.test(text) && parseInt64(text) !== undefined;
}
