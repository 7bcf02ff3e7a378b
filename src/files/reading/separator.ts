import { countFilled, isId } from "../cells.ts";
import type { Cell } from "../cells.ts";
import { CsvParser } from "../csv-parser.ts";
import type { ParsedRow } from "../csv-parser.ts";
import { createRoleFinder } from "./headings.ts";
import { HEADING_ROWS, SAMPLE_ROWS, SEPARATORS } from "./reading.ts";
import type { Asked, Quotes, Separator } from "./reading.ts";

/** How a text becomes cells. */
export type Splitting = Readonly<{ separator: Separator; quotes: Quotes; isCertain: boolean }>;

/** How much of a text shows what separates its cells. */
export const SPLIT_LENGTH = 32 * 1024;

/** What Excel writes and reads in front of the names: `sep=;`. */
export const SEPARATOR_LINE = /^"?sep=([,;|\t])?"?\s*$/i;

/** The start of a text, with one character for each byte. A row that it cuts is no row. */
export function guessSplitting(sample: string, asked: Pick<Asked, "separator" | "quotes">): Splitting {
  const [head = ""] = /[^\r\n]+/.exec(sample) ?? [];
  const named = SEPARATOR_LINE.exec(head)?.[1] as Separator | undefined;
  const separators = [asked.separator ?? named ?? SEPARATORS].flat();
  const tries = separators.map((separator) => trySeparator(sample, separator, asked.quotes));
  // The first of those that agree best; only rows that agree show columns at all.
  const best = tries.reduce((first, second) => (second.score > first.score ? second : first));
  const isOneCell = tries.every(({ separator, widest }) => separator === "" || widest === 1);
  return { ...best, isCertain: best.separator !== "" || (isOneCell && !tries.some(({ isQuoted }) => isQuoted)) };
}

/** `isQuoted`: the separator is in every row, but within quotes, as if each row was quoted once more. */
type Try = Readonly<{ separator: Separator; quotes: Quotes; score: number; widest: number; isQuoted: boolean }>;

/** What counts for one cell a line: more than columns in which few rows agree. */
const SCORE_OF_LINES = 0.7;

function trySeparator(sample: string, separator: Separator, asked: Quotes | undefined): Try {
  const quoted = asked === "none" ? [] : split(sample, separator, "double");
  const isPlain = asked === "none" || (asked === undefined && isSuspect(quoted, separator) && quotesNothing(sample, separator));
  const rows = isPlain ? split(sample, separator, "none") : quoted;
  const widths = rows.flatMap((row) => ("cells" in row && countFilled(row.cells) > 0 ? [row.cells.length] : []));
  const widest = widths.reduce((most, width) => Math.max(most, width), 0);
  const score = separator === "" ? SCORE_OF_LINES : scoreOf(rows, widths);
  const inside = rows.map((row) => ("cells" in row && separator !== "" ? (row.cells[0] ?? "").split(separator).length : 0));
  const isQuoted = widest === 1 && inside.length > 1 && inside.every((count) => count > 1 && count === inside[0]);
  return { separator, quotes: isPlain ? "none" : "double", widest, score, isQuoted };
}

/** The share of the rows that have as many cells as most have; more where columns have names that we know, or ids. */
function scoreOf(rows: readonly ParsedRow[], widths: readonly number[]): number {
  const cells = rows.flatMap((row) => ("cells" in row && row.cells.length > 1 ? [row.cells] : []));
  if (cells.length === 0) return 0;
  const counts = new Map<number, number>();
  for (const width of widths) if (width > 1) counts.set(width, (counts.get(width) ?? 0) + 1);
  const agreeing = Math.max(...counts.values());
  const find = createRoleFinder(KNOWN_CHARACTERS);
  const countKnown = (row: readonly Cell[]) => row.slice(0, HEADING_CELLS).filter((cell = "") => find(cell) !== undefined).length;
  const known = Math.max(...cells.slice(0, HEADING_ROWS).map(countKnown));
  const isNumbered = cells.length === widths.length && cells.every(([first]) => isId(first?.trim()));
  const share = agreeing / widths.length;
  // One known word may be in a name, as in `Plant, spider`.
  return known > 1 || isNumbered ? share + 1 : share * (1 + known / 2);
}

/** How many cells of a row show whether it is a heading. */
const HEADING_CELLS = 100;

/** How much of the cells is compared for each of the separators. */
const KNOWN_CHARACTERS = 6_000;

/** Whether quotes around cells fit nowhere, as in `5" below`, or join rows. */
function isSuspect(quoted: readonly ParsedRow[], separator: Separator): boolean {
  if (quoted.some((row) => "refusal" in row)) return true;
  return isLoose(separator) && quoted.some((row) => "cells" in row && row.cells.some((cell) => isRow(cell, separator)));
}

/** Whether the quotes belong to the text: where commas separate cells, only if none is around a cell. */
function quotesNothing(sample: string, separator: Separator): boolean {
  if (isLoose(separator)) return true;
  return !split(sample, separator, "none").some((row) => "cells" in row && row.cells.some((cell) => /^ *".*" *$/.test(cell ?? "")));
}

function isLoose(separator: Separator): boolean {
  return separator !== "," && separator !== ";";
}

function isRow(cell: string | undefined, separator: string): boolean {
  return cell !== undefined && separator !== "" && /[\r\n]/.test(cell) && cell.includes(separator);
}

/** The first rows, without one that is cut; or the beginning of the only one. None is too long. */
function split(sample: string, delimiter: Separator, quotes: Quotes): ParsedRow[] {
  const parser = new CsvParser({ delimiter, quotes, isLenient: true, bytesMax: sample.length + 1 });
  const rows: ParsedRow[] = [];
  for (const some of parser.read(sample)) {
    rows.push(...some);
    if (rows.length >= SAMPLE_ROWS) return rows;
  }
  if (sample.length >= SPLIT_LENGTH) return rows.length > 0 ? rows : split(sample.slice(0, BEGINNING), delimiter, quotes);
  for (const some of parser.end()) rows.push(...some);
  return rows;
}

/** Longer than the heading of any list that we know. */
const BEGINNING = 8_192;
