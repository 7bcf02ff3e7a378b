import { isEmpty } from "./cells.ts";
import type { CellRow, CellSource, RefusedLine } from "./cells.ts";
import { guessHeading } from "./guess-heading.ts";
import { isLatin } from "./latin-name.ts";
import { SAMPLE_CELLS, SAMPLE_ROWS } from "./reading.ts";
import type { Asked } from "./reading.ts";
import { addDoubt, tooLong } from "./row.ts";
import type { Findings } from "./row.ts";
import { TableError } from "./table-error.ts";
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
  if (asked.sheet === undefined && others.length > 0) addDoubt(findings, `Only the sheet ${sheet.name} is read, not ${others.join(", ")}.`);
  async function* rows(): CellSource["rows"] {
    for await (const some of sheet!.rows()) yield some.map((row) => limitLength(row, lineBytesMax));
  }
  return { rows: rows(), decode: (cell) => cell, delimiter: ",", isOneLine: false };
}

const NO_SHEET = "The workbook has no sheet that can be read: save it as CSV.";
const OTHER_SHEET = "The workbook has no sheet of that name: choose another one.";

/** How many sheets are looked at. */
const SHEETS_MAX = 50;

/**
 * The first visible sheet whose heading names most columns that we know, or that has Latin names; of those that have neither,
 * the one with most in it.
 */
async function guessSheet(sheets: readonly Sheet[]): Promise<Sheet | undefined> {
  const visible = sheets.filter(({ isVisible }) => isVisible).slice(0, SHEETS_MAX);
  let best: { sheet: Sheet | undefined; score: number } = { sheet: visible[0], score: 0 };
  for (const sheet of visible) {
    const score = scoreOf(await sampleOf(sheet));
    if (score > best.score) best = { sheet, score };
  }
  return best.sheet;
}

async function sampleOf({ rows }: Sheet): Promise<string[][]> {
  const sample: string[][] = [];
  let count = 0;
  for await (const some of rows()) {
    sample.push(...some.filter(({ cells }) => !cells.every(isEmpty)).map(({ cells }) => cells.map((cell = "") => cell.trim())));
    count += some.reduce((sum, { cells }) => sum + cells.length, 0);
    if (sample.length >= SAMPLE_ROWS || count >= SAMPLE_CELLS) break;
  }
  return sample;
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

function limitLength(row: CellRow, bytesMax: number): CellRow | RefusedLine {
  const length = row.cells.reduce((sum, cell = "") => sum + cell.length + 1, 0);
  const isTooLong = length * 3 > bytesMax && utf8.encode(row.cells.join(",")).length > bytesMax;
  return isTooLong ? { line: row.line, refusal: tooLong(bytesMax) } : row;
}
