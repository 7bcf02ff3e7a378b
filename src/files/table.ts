import { PlantStoreError } from "../domain/errors.ts";
import { parseInt64 } from "../domain/json.ts";
import { invalidBody } from "../domain/validation.ts";
import { countFilled, isEmpty, isGrouped, isShortened } from "./cells.ts";
import type { Cell, CellFault, CellRow, CellSource, RefusedLine } from "./cells.ts";
import { invalidHeader, JOINED, JOINED_PLANTS } from "./columns.ts";
import { toContentId } from "./content-id.ts";
import { PLAIN } from "./csv-options.ts";
import type { CsvOptions } from "./csv-options.ts";
import { toLayout } from "./layout.ts";
import type { Layout } from "./layout.ts";
import { expected } from "./row.ts";
import type { Findings, ReadOptions, Row, Rows } from "./row.ts";

/** Reads the rows of a table, wherever its cells come from. Throws `invalid_csv_header`. */
export async function* readTable(source: CellSource, options: ReadOptions, findings: Findings): Rows {
  const reader = createTableReader(source, options, findings);
  for await (const some of source.rows) yield some.map(reader.read).filter((row) => row !== undefined);
  reader.end();
}

/** Makes rows of cells: the first ones name the columns, unless they are a plant already. */
export function createTableReader(source: Omit<CellSource, "rows">, options: ReadOptions, findings: Findings) {
  const { csv = PLAIN, parsePlant } = options;
  const { hasHeader } = csv;
  const { isOneLine } = source;
  let table: Table | undefined;
  let count = 0n;

  function begin(first: CellRow): Table {
    const layout = toLayout(first, { source, csv, findings });
    if (!hasHeader && isOneLine && !layout.isAllUsed) throw invalidHeader(JOINED_PLANTS);
    return { ...source, csv, parsePlant, layout };
  }

  function checkHeader(): void {
    if (!table && hasHeader) throw invalidHeader(isOneLine ? JOINED : undefined);
  }

  return {
    /** Undefined for the line that names the columns. Throws `invalid_csv_header`, also where that line is refused. */
    read(row: CellRow | RefusedLine): Row | undefined {
      if ("refusal" in row) {
        checkHeader();
        count += 1n;
        return row;
      }
      if (!table) {
        table = begin(row);
        if (hasHeader) return undefined;
      }
      count += 1n;
      return toRow(row, count - 1n, table);
    },
    /** Throws `invalid_csv_header` if no line named the columns, or its line has more than is imported and no row is below it. */
    end(): void {
      checkHeader();
      if (hasHeader && count === 0n && table?.layout.isAllUsed === false) throw invalidHeader(JOINED);
    },
  };
}

/** What is known of a table when its columns are. */
type Table = Pick<CellSource, "decode" | "delimiter"> &
  Readonly<{ csv: CsvOptions; parsePlant: ReadOptions["parsePlant"]; layout: Layout }>;

export const BROKEN_CELL =
  "The row has an error such as #N/A, a formula without its result, or half of a letter in a cell that is imported: correct it in a spreadsheet, and save the file.";

const ROUNDED_TEXT =
  "The name or the tag is a number that a spreadsheet has rounded, so its last digits are lost: format its column as text, enter it again, and save the file.";

export const SHORTENED_ID =
  "The id is a shortened number, so its last digits may be lost: format the column of the ids as text, enter them again, and save the file.";

export const GROUPED_ID = "The id has separators of thousands, or decimals: format the column of the ids without them, and save the file.";

/** The plant of a row, or why it is none. `before`: how many rows are before it. */
function toRow({ line, cells, faults }: CellRow, before: bigint, table: Table): Row {
  const { layout, decode, csv, parsePlant } = table;
  try {
    checkCells(cells, table);
    const idAt = pick(cells, layout.id, layout);
    const nameAt = pick(cells, layout.name, layout);
    const tagAt = pick(cells, layout.tag, layout);
    const given = cells[idAt];
    const id = isEmpty(given) ? (makeId(cells, before, table) ?? given) : given;
    const name = cells[nameAt] ?? (layout.name.some((at) => at < cells.length) ? "" : undefined);
    const tag = cells[tagAt];
    if (faults) checkFaults([idAt, nameAt, tagAt].map((at) => faults.get(at)));
    if (typeof id === "string" && isShortened(id)) throw invalidBody(SHORTENED_ID);
    if (typeof id === "string" && isGrouped(id)) throw invalidBody(GROUPED_ID);
    const plant = {
      // Anything but a whole number stays as it is: the check reports it.
      ...(id === undefined ? {} : { id: typeof id === "bigint" ? id : (toInt64(id) ?? id) }),
      ...(name === undefined ? {} : { name: decode(name) }),
      ...(tag === undefined || (csv.dropEmptyTags && tag === "") ? {} : { tag: decode(tag) }),
    };
    return { line, plant: parsePlant(plant), isIdMade: csv.ids.kind === "content" && isEmpty(given) };
  } catch (thrown) {
    return { line, refusal: expected(thrown) };
  }
}

/**
 * A row may have fewer cells than there are columns, or more if the additional ones are empty, as spreadsheets write
 * them.
 */
function checkCells(cells: readonly Cell[], { delimiter, layout: { columns } }: Table): void {
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

/** The id of a row that has none, if one is to be made. All cells count, so that no two different rows are one plant. */
function makeId(cells: readonly Cell[], before: bigint, { decode, csv: { ids } }: Table): bigint | string | undefined {
  // The check reports a number that is too large.
  if (ids.kind === "from") return String(ids.first + before);
  if (ids.kind === "file") return undefined;
  const filled = cells.slice(0, countFilled(cells));
  return toContentId(filled.map((cell = "") => toContent(cell, decode)).join("\x1f"));
}

/** What is not UTF-8 still makes a row another one. */
function toContent(cell: string, decode: Table["decode"]): string {
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
function pick(cells: readonly Cell[], places: readonly number[], { noteUnused }: Layout): number {
  if (places.length === 1) return places[0]!;
  const [first, ...others] = places.filter((at) => cells[at] !== undefined && cells[at] !== "");
  others.forEach(noteUnused);
  return first ?? places.find((at) => cells[at] !== undefined) ?? -1;
}
