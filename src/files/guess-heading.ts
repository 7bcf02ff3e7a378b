import { isId } from "./cells.ts";
import { createRoleFinder } from "./headings.ts";
import type { Role } from "./headings.ts";
import { isLatin } from "./latin-name.ts";
import { HEADING_ROWS } from "./reading.ts";

/** Which of the rows names the columns, from 0; -1 if none does. `known`: how many roles its names have. */
export type GuessedHeading = Readonly<{ at: number; known: number; isCertain: boolean }>;

type Row = readonly string[];

/**
 * Finds the row that names the columns by names that we know, or because it has words above a column of numbers, or of
 * names. `sample`: the first rows that are not blank, trimmed.
 */
export function guessHeading(sample: readonly Row[]): GuessedHeading {
  const width = usualWidth(sample);
  const rows = sample.slice(0, ROWS_COMPARED).map((row) => row.slice(0, CELLS_MAX));
  const rolesOf = openRoles();
  const heads = rows.slice(0, HEADING_ROWS);
  const known = heads.map((row) => countKnown(row, width, rolesOf));
  const likely = known.map((count, at) => (count > 0 && isBelowTitles(rows, at) && !isOfPlants(rows, at, { known, rolesOf }) ? count : 0));
  const most = Math.max(0, ...likely);
  if (most > 0) {
    const at = likely.indexOf(most);
    return { at, known: most, isCertain: most > 1 || width < 2 || isAboveNumbers(rows[at]!, rows.slice(at + 1)) };
  }
  // A list of names has no heading, and rows of one cell are no table. Its first row may be a title.
  if (width < 2) return { at: -1, known: 0, isCertain: !known.some((count) => count > 0) && (rows[0] ?? []).some(isLatin) };
  const at = heads.findIndex((row, place) => {
    const below = rows.slice(place + 1);
    const isFull = countFilled(row) >= width * FILLED_MIN && !isTitle(row) && !row.some(isLatin);
    return isFull && isBelowTitles(rows, place) && (isAboveNumbers(row, below) || isAboveNames(row, below));
  });
  return { at, known: 0, isCertain: false };
}

/**
 * The last row of a heading of several: those below it are headings too, in another language, or of the parts of merged
 * cells. `at`: its first row.
 */
export function endOfHeading(rows: readonly Row[], at: number): number {
  const rolesOf = openRoles();
  const next = rows.slice(at + 1, at + 1 + FURTHER_ROWS);
  const isHeading = (row: Row) => {
    const known = rolesOf(row).filter((role) => role !== undefined).length;
    return known > 1 && known >= countFilled(row) / 2 && !row.some((cell) => /\d/.test(cell) || isLatin(cell));
  };
  const end = next.findIndex((row) => !isHeading(row));
  return at + (end === -1 ? next.length : end);
}

/** How many rows there may be below the first one of a heading. */
const FURTHER_ROWS = 2;

/** A heading has so many of the columns that the rows have. */
const FILLED_MIN = 0.5;

/** How many cells of a row, and rows below it, show whether it is a heading. */
const CELLS_MAX = 1_000;
const ROWS_COMPARED = 2 * HEADING_ROWS;

/** As many cells as the rows have that hold most of the table: there may be more titles than plants. */
function usualWidth(rows: readonly Row[]): number {
  const cells = new Map<number, number>();
  for (const row of rows) cells.set(countFilled(row), (cells.get(countFilled(row)) ?? 0) + countFilled(row));
  return Array.from(cells).reduce((most, next) => (next[1] >= most[1] ? next : most), [0, 0])[0];
}

function countFilled(row: Row): number {
  return row.filter((cell) => cell !== "").length;
}

type RolesOf = (row: Row) => ReadonlyArray<Role | undefined>;

function openRoles(): RolesOf {
  const find = createRoleFinder();
  return (row) => row.slice(0, CELLS_MAX).map((cell) => (isId(cell) ? undefined : find(cell)?.role));
}

/** How many columns it names, each once; none if it is too short for the rows, or one text over all of them. */
function countKnown(row: Row, width: number, rolesOf: RolesOf): number {
  if (isTitle(row) || countFilled(row) < Math.min(width, 2) * FILLED_MIN || (width > 1 && countFilled(row) < 2)) return 0;
  const roles = new Set(rolesOf(row).filter((role) => role !== undefined));
  // A list of one column is one of names.
  return width < 2 && (roles.has("tag") || roles.has("id")) ? 0 : roles.size;
}

/**
 * Whether all rows above are shorter, or one text over merged cells: a row of the table above a heading would be lost. And
 * whether a row is below, as otherwise all would be.
 */
function isBelowTitles(rows: readonly Row[], at: number): boolean {
  const filled = countFilled(rows[at]!);
  const above = rows.slice(0, at);
  if (at > 0 && at === rows.length - 1) return false;
  // In a list of one column, only the names below show what is above them.
  if (at > 0 && filled === 1) return !isBelowPlants(rows, at) && isAboveNames(rows[at]!, rows.slice(at + 1));
  return above.every((row) => countFilled(row) < filled || isTitle(row));
}

function isBelowPlants(rows: readonly Row[], at: number): boolean {
  return rows.slice(0, at).some((row) => row.some(isLatin));
}

/**
 * In a list of plants, words such as `Art`, `Group` and `Type` may be cells: then other rows have as many of them, or
 * codes that look like one beside the words.
 */
function isOfPlants(
  rows: readonly Row[],
  at: number,
  { known, rolesOf }: Readonly<{ known: readonly number[]; rolesOf: RolesOf }>,
): boolean {
  const row = rows[at]!;
  const below = rows.slice(at + 1);
  if (row.some((cell) => isLatin(cell) && rolesOf([cell])[0] === undefined)) return true;
  if (row.some((cell, place) => isCode(cell) && shareOf(below, place, (other) => toShape(other) === toShape(cell)) > 0.5)) return true;
  // Years may name columns, but smaller numbers rarely do.
  const isCount = (cell: string, place: number) => /^\d{1,3}$/.test(cell) && (below.length === 0 || shareOf(below, place, isNumber) > 0.5);
  if (row.some(isCount)) return !isAboveNames(row, below);
  const text = row.join("\n");
  const others = known.slice(at + 1).filter((_, place) => below[place]!.join("\n") !== text);
  const alike = others.filter((count) => count >= known[at]!).length;
  if (known[at]! > 1) return others.length > 2 && alike > others.length / 2;
  return alike > others.length / 5 || (isBelowPlants(rows, at) && !isAboveNumbers(row, below));
}

/** As in `X-12`: headings with numbers differ from what is below them. */
function isCode(cell: string): boolean {
  return cell.length <= CODE_LENGTH_MAX && /\d/.test(cell) && /\p{L}/u.test(cell);
}

const CODE_LENGTH_MAX = 20;

function toShape(cell: string): string {
  return cell.slice(0, CODE_LENGTH_MAX + 1).replaceAll(/\d+/g, "0");
}

/** Merged cells have one text. */
function isTitle(row: Row): boolean {
  const filled = row.filter((cell) => cell !== "");
  return filled.length > 1 && new Set(filled).size === 1;
}

/** Whether nearly all of a column is numbers or dates, and its cell in this row has no digit. */
function isAboveNumbers(row: Row, below: readonly Row[]): boolean {
  return row.some((cell, at) => cell !== "" && !/\d/.test(cell) && shareOf(below, at, isNumber) >= 0.9);
}

function isNumber(cell: string): boolean {
  return /^[+-]?\d/.test(cell);
}

/** Whether most of a column is Latin names, and its cell in this row neither such a name nor a genus of them. */
function isAboveNames(row: Row, below: readonly Row[]): boolean {
  if (below.length < NAMES_MIN) return false;
  const isGenus = (cell: string, at: number) => below.some((other) => other[at]?.startsWith(`${cell} `));
  return row.some((cell, at) => cell !== "" && !isLatin(cell) && !isGenus(cell, at) && shareOf(below, at, isLatin) >= 0.7);
}

/** So many names show that others are in the wrong place. */
const NAMES_MIN = 3;

/** Of the cells that are not empty; 0 if those are few. */
function shareOf(rows: readonly Row[], at: number, is: (cell: string) => boolean): number {
  const cells = rows.map((row) => row[at] ?? "").filter((cell) => cell !== "");
  return cells.length < Math.max(1, rows.length / 2) ? 0 : cells.filter(is).length / cells.length;
}
