import { parseInt64 } from "../domain/json.ts";
import type { Cell } from "./csv-parser.ts";

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
