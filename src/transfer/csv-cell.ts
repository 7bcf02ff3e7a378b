import { parseInt64 } from "../json.ts";
import { toByteText } from "./byte-text.ts";
import type { Cell } from "./csv-parser.ts";

export function isEmpty(cell: Cell): boolean {
  return cell === undefined || cell.trim() === "";
}

/** The number of cells up to the last one that is not empty. */
export function countFilled(cells: readonly Cell[]): number {
  return cells.findLastIndex((cell) => cell !== undefined && cell !== "") + 1;
}

/**
 * What xlsx.ts puts before an error, or for a formula without a result, which are nothing that a plant could have. It begins
 * with a noncharacter, which Unicode keeps for use inside of a program.
 */
export const BROKEN = "\ufdd0#";
const BROKEN_BYTES = toByteText(new TextEncoder().encode(BROKEN));

export function isBroken(cell: Cell): boolean {
  return cell !== undefined && cell.startsWith(BROKEN_BYTES);
}

/** How spreadsheets write long numbers into CSV, as in 4.00638E+12. */
const SHORTENED = /^\s*[+-]?\d+(?:[.,]\d+)?e\+\d+\s*$/i;

/** Whether it is no id because it was a longer one. */
export function isShortened(cell: string): boolean {
  return SHORTENED.test(cell) || isRounded(cell);
}

/** Whether xlsx.ts says that Excel rounded it. */
export function isRounded(cell: Cell): boolean {
  return cell !== undefined && / \(rounded to \d+ digits by Excel\)$/.test(cell);
}

/** Whether a cell may be meant as an id. */
export function isLikeId(cell: Cell): boolean {
  return isEmpty(cell) || parseId(cell!) !== undefined || isShortened(cell!);
}

/** The id in a cell. `1.000` may be a thousand, as a German Excel writes it. */
export function parseId(cell: string): bigint | undefined {
  const text = cell.trim();
  return /\.\d{3}$/.test(text) ? undefined : parseInt64(text);
}
