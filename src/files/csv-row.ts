import { PlantStoreError } from "../domain/errors.ts";
import { parseInt64 } from "../domain/json.ts";
import { invalidBody } from "../domain/validation.ts";
import type { CellFault, CellRow } from "./cell-row.ts";
import type { DecodeCell } from "./cell-decoder.ts";
import { toContentId } from "./content-id.ts";
import { countFilled, isEmpty, isGrouped, isShortened } from "./csv-cell.ts";
import type { Layout, RowReading } from "./csv-layout.ts";
import type { Cell } from "./csv-parser.ts";
import { expected } from "./row.ts";
import type { Row } from "./row.ts";

export const BROKEN_CELL =
  "The row has an error such as #N/A, a formula without its result, or half of a letter in a cell that is imported: correct it in a spreadsheet, and save the file.";

const ROUNDED_TEXT =
  "The name or the tag is a number that a spreadsheet has rounded, so its last digits are lost: format its column as text, enter it again, and save the file.";

export const SHORTENED_ID =
  "The id is a shortened number, so its last digits may be lost: format the column of the ids as text, enter them again, and save the file.";

export const GROUPED_ID = "The id has separators of thousands, or decimals: format the column of the ids without them, and save the file.";

type RowOptions = RowReading & Readonly<{ layout: Layout; count: bigint }>;

/** The plant of a row, or why it is none. `count`: how many rows are before it. */
export function toRow({ line, cells, faults }: CellRow, { layout, delimiter, count, decode, csv, options }: RowOptions): Row {
  try {
    checkCells(cells, layout, delimiter);
    const idAt = pick(cells, layout.id, layout);
    const nameAt = pick(cells, layout.name, layout);
    const tagAt = pick(cells, layout.tag, layout);
    const given = cells[idAt];
    const id = isEmpty(given) ? (makeId(cells, { count, decode, csv }) ?? given) : given;
    const name = cells[nameAt] ?? (layout.name.some((at) => at < cells.length) ? "" : undefined);
    const tag = cells[tagAt];
    if (faults) checkFaults([idAt, nameAt, tagAt].map((at) => faults.get(at)));
    if (typeof id === "string" && isShortened(id)) throw invalidBody(SHORTENED_ID);
    if (typeof id === "string" && isGrouped(id)) throw invalidBody(GROUPED_ID);
    const plant = {
      // Anything but a whole number stays as it is: the check reports it.
      ...(id === undefined ? {} : { id: typeof id === "bigint" ? id : (toInt64(id) ?? id) }),
      ...(name === undefined ? {} : { name: decode(name) }),
      ...(tag === undefined || (csv.isEmptyTagNone && tag === "") ? {} : { tag: decode(tag) }),
    };
    return { line, plant: options.parsePlant(plant), isIdMade: csv.ids.kind === "content" && isEmpty(given) };
  } catch (thrown) {
    return { line, refusal: expected(thrown) };
  }
}

/**
 * A row may have fewer cells than there are columns, or more if the additional ones are empty, as spreadsheets write
 * them.
 */
function checkCells(cells: readonly Cell[], { columns }: Layout, delimiter: string): void {
  if (cells.length <= columns || countFilled(cells) <= columns) return;
  const named = delimiter === "\t" ? "a tab" : `a ${delimiter}`;
  throw new PlantStoreError("malformed_row", {
    message: `The row has ${countFilled(cells)} cells for ${columns} columns: name a column for each cell, or empty the others. In CSV, put quotes around a cell that holds ${named}.`,
  });
}

/** Those of the cells of the id, the name and the tag. */
function checkFaults([id, ...others]: readonly (CellFault | undefined)[]): void {
  if (id === "error" || others.includes("error")) throw invalidBody(BROKEN_CELL);
  if (id === "rounded") throw invalidBody(SHORTENED_ID);
  if (others.includes("rounded")) throw invalidBody(ROUNDED_TEXT);
}

/** Spaces may be around an id, but no line ends. */
function toInt64(id: string): bigint | undefined {
  return /[\r\n]/.test(id) ? undefined : parseInt64(id.trim());
}

/** The id of a row that has none, if the sender wants one. All cells count, so that no two different rows are one plant. */
function makeId(
  cells: readonly Cell[],
  { count, decode, csv: { ids } }: Pick<RowOptions, "count" | "decode" | "csv">,
): bigint | string | undefined {
  // The check reports a number that is too large.
  if (ids.kind === "from") return String(ids.first + count);
  if (ids.kind === "file") return undefined;
  return toContentId(
    cells
      .slice(0, countFilled(cells))
      .map((cell) => toContent(cell ?? "", decode))
      .join("\x1f"),
  );
}

/** What is not UTF-8 still makes a row another one. */
function toContent(cell: string, decode: DecodeCell): string {
  try {
    return decode(cell);
  } catch {
    return cell;
  }
}

/**
 * The place of the first of these cells that is not empty, otherwise of one that is quoted and empty; -1 if there is none.
 * Reports the others that are not empty.
 */
function pick(cells: readonly Cell[], places: readonly number[], { reportUnused }: Layout): number {
  if (places.length === 1) return places[0]!;
  const [first, ...others] = places.filter((at) => cells[at] !== undefined && cells[at] !== "");
  others.forEach(reportUnused);
  return first ?? places.find((at) => cells[at] !== undefined) ?? -1;
}
