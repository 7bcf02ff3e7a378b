import type { Cell } from "./csv-parser.ts";

/** What a cell of a workbook may be that no plant can have: an error, or a number that Excel has rounded. */
export type CellFault = "error" | "rounded";

/** Those of a row, by the places of their cells. */
export type CellFaults = ReadonlyMap<number, CellFault>;

/** The cells of a line of a table. */
export type CellRow = Readonly<{ line: number; cells: readonly Cell[]; faults?: CellFaults | undefined }>;
