import type { Cell, CellFault, CellRow } from "../cells.ts";
import type { Grow } from "./workbook.ts";

/** Cells that are shown as one: rows are counted from 1, columns from 0. */
export type MergedArea = Readonly<{ top: number; bottom: number; left: number; right: number }>;

type Open = MergedArea & Readonly<{ cell: Cell; fault: CellFault | undefined }>;

/** A title over all columns of a sheet does not make its row as wide as the sheet. */
const WIDTH_MAX = 256;

/** Fills the merged areas of a sheet with what their first cell shows, one row at a time. */
export class MergedAreas {
  readonly #areas: readonly MergedArea[];
  #next = 0;
  #open: Open[] = [];

  /** They are in the order of their first rows; those of rows to come may be added later. */
  constructor(areas: readonly MergedArea[]) {
    this.#areas = areas;
  }

  /**
   * The row with its areas filled. One that has nothing else stays empty: it is the lower half of a taller row, or lies
   * between rows.
   */
  filled(row: CellRow, grow: Grow): CellRow {
    // Each row looks at all of them, also a blank one.
    grow(this.#open.length);
    if (this.#open.length > 0) this.#open = this.#open.filter(({ bottom }) => bottom >= row.line);
    this.#start(row);
    if (this.#open.length === 0) return row;
    const isBlank = !row.faults && row.cells.every((cell) => cell === undefined || cell.trim() === "");
    return isBlank ? row : fillRow(row, this.#open, grow);
  }

  #start({ line, cells, faults }: CellRow): void {
    for (; this.#next < this.#areas.length && this.#areas[this.#next]!.top <= line; this.#next += 1) {
      const area = this.#areas[this.#next]!;
      const [cell, fault] = [cells[area.left], faults?.get(area.left)];
      // An area whose first row is not there is empty.
      if (area.top === line && (cell !== undefined || fault)) this.#open.push({ ...area, cell, fault });
    }
  }
}

function fillRow(row: CellRow, areas: readonly Open[], grow: Grow): CellRow {
  const cells = [...row.cells];
  const faults = new Map(row.faults);
  const repeated = new Set<number>();
  for (const { left, right, cell, fault } of areas) {
    const end = Math.min(right, left + WIDTH_MAX - 1);
    grow(Math.max(0, left - cells.length) + (end - left + 1) * (1 + (cell?.length ?? 0)));
    while (cells.length < left) cells.push(undefined);
    for (let at = left; at <= end; at += 1) {
      cells[at] = cell;
      if (fault) faults.set(at, fault);
      if (at > left) repeated.add(at);
    }
  }
  return {
    ...row,
    cells,
    ...(faults.size > 0 ? { faults } : {}),
    ...(repeated.size > 0 ? { repeated } : {}),
  };
}
