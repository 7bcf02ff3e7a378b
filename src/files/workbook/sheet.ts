import { isEmpty } from "../cells.ts";
import type { CellRow, CellSource, RefusedLine } from "../cells.ts";
import { guessHeading } from "../reading/guess-heading.ts";
import { isLatin } from "../reading/latin-name.ts";
import { SAMPLE_CELLS } from "../reading/reading.ts";
import type { Asked } from "../reading/reading.ts";
import { addDoubt, tooLong } from "../row.ts";
import type { Findings } from "../row.ts";
import { TableError } from "../table-error.ts";
import type { Sheet } from "./workbook.ts";

const utf8 = new TextEncoder();

/** The cells of the sheet that was asked for, or that looks most like a table. A row may be as long as in CSV. Throws a TableError. */
export async function openSheetCells(
  sheets: readonly Sheet[],
  asked: Asked,
  lineBytesMax: number,
  findings: Findings,
): Promise<CellSource> {
  const sheet = asked.sheet === undefined ? await guessSheet(sheets) : sheets.find(({ name }) => name === asked.sheet);
  if (!sheet) throw new TableError(asked.sheet === undefined ? NO_SHEET : OTHER_SHEET);
  findings.sheet = sheet.name;
  const others = sheets.filter((other) => other !== sheet).map(({ name }) => name);
  if (asked.sheet === undefined && others.length > 0)
    addDoubt(findings, `Only the sheet ${sheet.name} is read, not ${toShortList(others)}.`);
  const noteHidden = createHidden(findings);
  async function* rows(): CellSource["rows"] {
    for await (const some of sheet!.rows()) {
      noteHidden(some);
      yield some.map((row) => limitLength(row, lineBytesMax));
    }
  }
  return { rows: rows(), decode: (cell) => cell, delimiter: ",", isOneLine: false };
}

const NO_SHEET = "The workbook has no sheet that can be read: save it as CSV.";
const OTHER_SHEET = "The workbook has no sheet of that name: choose another one.";

/** How many names of sheets a message has. */
const NAMES_MAX = 50;

function toShortList(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Counts the rows that people do not see: a filter may have left over what they think the list is. */
function createHidden(findings: Findings): (rows: readonly CellRow[]) => void {
  let hidden = 0;
  let place: number | undefined;
  return (rows) => {
    const more = rows.filter(({ isHidden = false, cells }) => isHidden && !cells.every(isEmpty)).length;
    if (more === 0) return;
    hidden += more;
    const message = hidden === 1 ? HIDDEN_ROW : `${hidden} rows are hidden in the spreadsheet: they are imported too.`;
    // With the first one, as so many other doubts may come that there is no room for it at the end.
    if (place === undefined) {
      place = findings.doubts.length;
      addDoubt(findings, message);
    } else if (place < findings.doubts.length) findings.doubts[place] = { message };
  };
}

const HIDDEN_ROW = "1 row is hidden in the spreadsheet: it is imported too.";

/** How many sheets are looked at, and how much of them together. */
const SHEETS_MAX = 50;
const CELLS_MAX = 100_000;
/** So many rows of a sheet show what it is. */
const ROWS_MAX = 100;

/**
 * The first visible sheet that surely has plants; otherwise the one whose heading names most columns that we know, or that
 * has Latin names; of those that have neither, the one with most in it.
 */
async function guessSheet(sheets: readonly Sheet[]): Promise<Sheet | undefined> {
  const visible = sheets.filter(({ isVisible }) => isVisible).slice(0, SHEETS_MAX);
  let best: { sheet: Sheet | undefined; score: number } = { sheet: visible[0], score: 0 };
  let seen = 0;
  for (const sheet of visible) {
    const { rows, cells } = await sampleOf(sheet);
    const score = scoreOf(rows);
    if (score > best.score) best = { sheet, score };
    seen += cells;
    if (best.score >= SCORE_OF_TABLE || seen >= CELLS_MAX) break;
  }
  return best.sheet;
}

async function sampleOf(sheet: Sheet): Promise<Readonly<{ rows: string[][]; cells: number }>> {
  const rows: string[][] = [];
  let count = 0;
  for await (const some of sheet.rows()) {
    rows.push(...some.filter(({ cells }) => !cells.every(isEmpty)).map(({ cells }) => cells.map((cell = "") => cell.trim())));
    count += some.reduce((sum, { cells }) => sum + cells.length, 0);
    if (rows.length >= ROWS_MAX || count >= SAMPLE_CELLS) break;
  }
  return { rows, cells: count };
}

function scoreOf(rows: readonly (readonly string[])[]): number {
  const { at, known, isCertain } = guessHeading(rows);
  const isList = rows.length > 0 && rows.filter((row) => row.some(isLatin)).length >= rows.length / 2;
  const score = (isCertain && at < rows.length - 1 ? known : 0) + (isList ? SCORE_OF_NAMES : 0);
  const cells = rows.reduce((sum, row) => sum + row.filter((cell) => cell !== "").length, 0);
  return score > 0 ? score : cells / (cells + 1);
}

/** What a column of Latin names counts for: more than the two headings that a sheet about the workbook may have. */
const SCORE_OF_NAMES = 3;
/** With three headings besides, no other sheet is looked for. */
const SCORE_OF_TABLE = 6;

function limitLength(row: CellRow, bytesMax: number): CellRow | RefusedLine {
  const length = row.cells.reduce((sum, cell = "") => sum + cell.length + 1, 0);
  const isTooLong = length * 3 > bytesMax && utf8.encode(row.cells.join(",")).length > bytesMax;
  return isTooLong ? { line: row.line, refusal: tooLong(bytesMax) } : row;
}
