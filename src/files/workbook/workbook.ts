import { checkGrowth } from "../packed-file.ts";
import type { CellRow } from "../cells.ts";

/** The rows of a sheet that have cells, some at a time. */
export type SheetRows = AsyncGenerator<readonly CellRow[], void, void>;

/** A file of sheets, of whichever program. Each sheet can be read several times, and only as far as its rows are taken. */
export type Workbook = Readonly<{ sheets: readonly Sheet[] }>;

export type Sheet = Readonly<{ name: string; isVisible: boolean; rows: () => SheetRows }>;

/** Counts what comes out of a part. Throws `body_too_large`. */
export type Grow = (length: number) => void;

/**
 * What all sheets of a file grow to, together: many of them may be one part, and many cells one long text. What is read
 * again counts once. Returns the counter of one reading of a sheet.
 */
export function createGrowth(size: number): (sheet: number) => Grow {
  const most = new Map<number, number>();
  let total = 0;
  return (sheet) => {
    let grown = 0;
    return (length) => {
      grown += length;
      const known = most.get(sheet) ?? 0;
      if (grown <= known) return;
      most.set(sheet, grown);
      total += grown - known;
      checkGrowth(total, size);
    };
  };
}

/**
 * Many small rows cost as much as a long text.
 *
 * @limit files: bytes that a row of a workbook grows to, besides its cells
 */
export const ROW_LENGTH = 100;

/** Few rows are made at once: between them, others have their turn. */
export function* inBatches<T>(items: Iterable<T>, toRow: (item: T) => CellRow): Generator<readonly CellRow[], void, void> {
  let rows: CellRow[] = [];
  let cells = 0;
  for (const item of items) {
    const row = toRow(item);
    rows.push(row);
    cells += row.cells.length + 1;
    if (cells < CELLS_AT_ONCE) continue;
    yield rows;
    rows = [];
    cells = 0;
  }
  if (rows.length > 0) yield rows;
}

const CELLS_AT_ONCE = 2_000;

export async function* counted(pieces: AsyncGenerator<Uint8Array, void, void>, grow: Grow): typeof pieces {
  for await (const piece of pieces) {
    grow(piece.length);
    yield piece;
  }
}
