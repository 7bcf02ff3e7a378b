import { isId } from "../cells.ts";
import { createRoleFinder, isWholly } from "./headings.ts";
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
  const find = createRoleFinder();
  const namingOf = openRoles(find, { isNaming: true });
  // In a list of one column, a cell is a name.
  const rolesOf = width < 2 ? namingOf : openRoles(find);
  const heads = rows.slice(0, HEADING_ROWS);
  const known = heads.map((row) => countKnown(row, width, rolesOf));
  const isHeading = (at: number) =>
    isBelowTitles(rows, at) && !isOfPlants(rows, at, { known, rolesOf }) && saysWhereNamesAre(rows[at]!, rows.slice(at + 1), namingOf);
  const likely = known.map((count, at) => (count > 0 && isHeading(at) ? count : 0));
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
  const end = next.findIndex((row) => !isWhollyHeading(row, rolesOf));
  return at + (end === -1 ? next.length : end);
}

/** The first row that names columns, but is below those of which one may; -1 if there is none. */
export function findLateHeading(rows: readonly Row[]): number {
  const rolesOf = openRoles();
  return rows.findIndex((row, at) => at >= HEADING_ROWS && isWhollyHeading(row, rolesOf));
}

function isWhollyHeading(row: Row, rolesOf: RolesOf): boolean {
  const known = rolesOf(row).filter((role) => role !== undefined).length;
  return known > 1 && known >= countFilled(row) / 2 && !row.some((cell) => /\d/.test(cell) || isLatin(cell));
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

/** `isNaming`: only those of a column of names, and not of a cell that may be a plant, as in `Crocus - species`. */
function openRoles(find = createRoleFinder(), { isNaming = false } = {}): RolesOf {
  const roleOf = (cell: string) => {
    const known = isId(cell) ? undefined : find(cell);
    return known && (!isNaming || (isWholly(known) && NAMING.includes(known.role))) ? known.role : undefined;
  };
  return (row) => row.slice(0, CELLS_MAX).map(roleOf);
}

/** What a column is that a name may come from. Other headings may be cells of a plant, as in `Rosa,Garden`. */
const NAMING: ReadonlyArray<Role | undefined> = ["name", "vernacular", "genus", "species", "variety", "cultivar"];

function saysWhereNamesAre(row: Row, below: readonly Row[], namingOf: RolesOf): boolean {
  return namingOf(row).some((role) => role !== undefined) || isAboveNumbers(row, below) || isAboveNames(row, below, 1);
}

/** How many columns it names, each once; none if it is too short for the rows, or one text over all of them. */
function countKnown(row: Row, width: number, rolesOf: RolesOf): number {
  if (isTitle(row) || countFilled(row) < Math.min(width, 2) * FILLED_MIN || (width > 1 && countFilled(row) < 2)) return 0;
  return new Set(rolesOf(row).filter((role) => role !== undefined)).size;
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
  return above.every((row) => countFilled(row) < filled || isTitle(row) || isOfGroups(row));
}

/** Whether it has merged cells with words, as a row of groups above the names of columns has. */
function isOfGroups(row: Row): boolean {
  return row.some((cell, at) => at > 0 && cell !== "" && cell === row[at - 1]) && !row.some((cell) => /\d/.test(cell) || isLatin(cell));
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
  if (row.some((cell, place) => isPair(cell, row[place + 1]) && rolesOf([cell])[0] === undefined && isAbovePairs(below, place)))
    return true;
  // Years may name columns, but smaller numbers rarely do.
  const isCount = (cell: string, place: number) => /^\d{1,3}$/.test(cell) && (below.length === 0 || shareOf(below, place, isNumber) > 0.5);
  if (row.some(isCount)) return !isAboveNames(row, below);
  const text = row.join("\n");
  const others = known.slice(at + 1).filter((_, place) => below[place]!.join("\n") !== text);
  const alike = others.filter((count) => count >= known[at]!).length;
  if (known[at]! > 1) return others.length > 2 && alike > others.length / 2;
  return alike > others.length / 5 || (isBelowPlants(rows, at) && !isAboveNumbers(row, below));
}

/** Whether two cells make a Latin name, as in `Carex,sp.`. */
function isPair(cell: string, next = ""): boolean {
  return isLatin(`${cell} ${next}`);
}

function isAbovePairs(below: readonly Row[], at: number): boolean {
  return below.filter((row) => isPair(row[at] ?? "", row[at + 1])).length >= below.length / 2;
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
function isAboveNames(row: Row, below: readonly Row[], namesMin = NAMES_MIN): boolean {
  if (below.length < namesMin) return false;
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
