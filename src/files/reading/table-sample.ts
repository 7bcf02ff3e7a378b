import { isEmpty } from "../cells.ts";
import type { CellRow, CellSource, RefusedLine } from "../cells.ts";
import { SAMPLE_CELLS, SAMPLE_ROWS } from "./reading.ts";

export type SourceRow = CellRow | RefusedLine;

type Sample = Readonly<{ sample: readonly SourceRow[]; all: AsyncGenerator<readonly SourceRow[], void, void> }>;

/** With rows that are blank, or refused. */
const LINES_MAX = 2_000;
/** So much of the first rows is looked at, as rows may be long. */
const SAMPLE_CHARACTERS = 500_000;
/** So much of a cell shows what it holds. */
export const CELL_CHARACTERS = 1_000;

/** The first rows, and all of them. */
export async function readSample(rows: CellSource["rows"]): Promise<Sample> {
  const sample: SourceRow[] = [];
  let [rowsFilled, cells, characters] = [0, 0, 0];
  for (let next = await rows.next(); !next.done; next = await rows.next()) {
    sample.push(...next.value);
    for (const row of next.value) {
      if ("refusal" in row) continue;
      rowsFilled += row.cells.every(isEmpty) ? 0 : 1;
      cells += row.cells.length;
      characters += row.cells.reduce((sum, cell = "") => sum + cell.length, 0);
    }
    if (rowsFilled >= SAMPLE_ROWS || sample.length >= LINES_MAX || cells >= SAMPLE_CELLS || characters >= SAMPLE_CHARACTERS) break;
  }
  async function* all(): Sample["all"] {
    try {
      yield sample;
      yield* rows;
    } finally {
      await rows.return();
    }
  }
  return { sample, all: all() };
}
