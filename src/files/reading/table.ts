import { PlantStoreError } from "../../domain/errors.ts";
import { parseInt64 } from "../../domain/json.ts";
import { invalidBody } from "../../domain/validation.ts";
import { countFilled, isEmpty, isGrouped, isId, isShortened } from "../cells.ts";
import type { Cell, CellFault, CellRow, CellSource, RefusedLine } from "../cells.ts";
import { toColumnName } from "./columns.ts";
import type { Layout } from "./columns.ts";
import { toContentId } from "../content-id.ts";
import { createRoleFinder } from "./headings.ts";
import { isNull } from "../null-mark.ts";
import { joinName, lacksGenus } from "./plant-name.ts";
import type { PartOfName } from "./plant-name.ts";
import type { Ids } from "./reading.ts";
import { noteDoubts, noteText } from "./row-doubts.ts";
import { expected, UNUSED_MAX } from "../row.ts";
import type { Findings, ReadOptions, Row } from "../row.ts";

/** What is known of a table when its columns are. */
export type Table = Pick<CellSource, "decode" | "delimiter"> &
  Readonly<{
    layout: Layout;
    ids: Ids;
    /**
     * "plain": an id may be any form of a whole number, and a name may be empty. "export": the cells are meant as they stand,
     * but for marks such as NULL without quotes. "foreign": as people have them, with spaces around, and codes for ids.
     */
    style: "plain" | "export" | "foreign";
    /** Whether a row without a name is a plant. */
    emptyNames: boolean;
    /** Whether nearly all names are Latin. */
    areLatin?: boolean;
    /** Whether spaces stand behind most separators. */
    isSpaced?: boolean;
    /** Whether a quoted empty tag means none. */
    dropEmptyTags: boolean;
    parsePlant: ReadOptions["parsePlant"];
  }>;

const BROKEN_CELL =
  "The row has an error such as #N/A, a formula without its result, or half of a letter in a cell that is imported: correct it in a spreadsheet, and save the file.";

const ROUNDED_TEXT =
  "The name or the tag is a number that a spreadsheet has rounded, so its last digits are lost: format its column as text, enter it again, and save the file.";

const SHORTENED_ID =
  "The id is a shortened number, so its last digits may be lost: format the column of the ids as text, enter them again, and save the file.";

const GROUPED_ID = "The id has separators of thousands, or decimals: format the column of the ids without them, and save the file.";

const CODE_ID =
  "The id is a code such as 0012, 1E3 or 2004.0, and no whole number: choose another column for the ids, or none, so that they are made. The code can be part of the name.";

const NO_GENUS = "The row has an epithet without a genus, or a sign for what is above it: write the genus into each row.";

const NO_NAME = "The row has no name: add it, or allow plants without a name.";

/** Makes plants of rows, one after the other. */
export function createRowReader(table: Table, findings: Findings): (row: CellRow | RefusedLine) => Row {
  const reader: Reader = { ...table, noteUnused: createUnused(table.layout, findings), roleOf: createRoleFinder(), findings };
  const foreign: Reader = { ...reader, style: "foreign" };
  let count = 0n;
  return (row) => {
    count += 1n;
    if ("refusal" in row) return row;
    try {
      checkCells(row.cells, table);
      // No export of ours has a row with spaces around cells.
      return toPlant(row, count - 1n, row.isLoose && table.style === "export" ? foreign : reader);
    } catch (thrown) {
      return { line: row.line, refusal: expected(thrown) };
    }
  };
}

type Reader = Table & Readonly<{ noteUnused: (at: number) => void; roleOf: ReturnType<typeof createRoleFinder>; findings: Findings }>;

/** Throws why the row is none. `before`: how many rows are before it. */
function toPlant(row: CellRow, before: bigint, reader: Reader): Row {
  const { layout, style, dropEmptyTags, parsePlant } = reader;
  const { line, cells, faults } = row;
  const idAt = pick(cells, layout.id, reader);
  const tagAt = pick(cells, layout.tag, reader);
  const nameAt = layout.parts ? layout.name : [pick(cells, layout.name, reader)];
  const given = cellOf(row, idAt, reader);
  const id = isEmpty(given) ? (makeId(cells, before, reader) ?? given) : given;
  if (faults)
    checkFaults(
      faults.get(idAt),
      [...nameAt, tagAt].map((at) => faults.get(at)),
    );
  const name = toName(row, nameAt, reader);
  const tag = textOf(row, tagAt, reader);
  const plant = {
    ...(id === undefined ? {} : { id: typeof id === "bigint" ? id : toId(id, style) }),
    ...(name === undefined ? {} : { name }),
    ...(tag === undefined || (dropEmptyTags && tag === "") ? {} : { tag }),
  };
  const parsed = parsePlant(plant);
  if (style === "foreign") noteDoubts(row, [name, tag], { nameAt, tagAt, reader });
  if (style === "export") noteText([name, tag], line, reader.findings);
  return { line, plant: parsed, isIdMade: reader.ids.kind === "content" && isEmpty(given) };
}

function toName(row: CellRow, places: readonly number[], reader: Reader): string | undefined {
  const { layout, style, emptyNames } = reader;
  // A merged cell is one for people.
  const isRepeated = (at: number) => row.repeated?.has(at) && places.includes(at - 1);
  const texts = places.map((at) => (isRepeated(at) ? undefined : textOf(row, at, reader)));
  const parts = texts.map((text = "", at): PartOfName => ({ role: layout.parts?.[at], text }));
  const name = texts.length === 1 ? texts[0] : joinName(parts);
  if (style === "plain") return name ?? (layout.name.some((at) => at < row.cells.length) ? "" : undefined);
  if (!emptyNames && (name === undefined || (name === "" && style === "foreign"))) throw invalidBody(NO_NAME);
  if (texts.length > 1 && name !== "" && lacksGenus(parts)) throw invalidBody(NO_GENUS);
  return name ?? "";
}

/** The cell, if it is not what programs write for nothing. */
function cellOf({ cells, literal }: CellRow, at: number, { style }: Reader): Cell {
  const cell = cells[at];
  return cell !== undefined && style !== "plain" && isNull(cell) && !literal?.includes(at) ? undefined : cell;
}

function textOf(row: CellRow, at: number, reader: Reader): string | undefined {
  const cell = cellOf(row, at, reader);
  if (cell === undefined) return undefined;
  return reader.style === "foreign" ? reader.decode(cell).trim() : reader.decode(cell);
}

/** Anything but a whole number stays as it is: the check reports it. */
function toId(cell: string, style: Table["style"]): bigint | string {
  if (isShortened(cell)) throw invalidBody(SHORTENED_ID);
  if (isGrouped(cell)) throw invalidBody(GROUPED_ID);
  // Spaces may be around an id, but no line ends.
  const id = /[\r\n]/.test(cell) ? undefined : parseInt64(cell.trim());
  if (style !== "plain" && id !== undefined && !isId(cell.trim())) throw invalidBody(CODE_ID);
  return id ?? cell;
}

/**
 * A row may have fewer cells than there are columns, or more if the additional ones are empty, as spreadsheets write
 * them.
 */
function checkCells(cells: readonly Cell[], { delimiter, layout: { names } }: Table): void {
  const columns = names.length;
  if (cells.length <= columns || countFilled(cells) <= columns) return;
  const named = delimiter === "\t" ? "a tab" : `a ${delimiter}`;
  throw new PlantStoreError("malformed_row", {
    message: `The row has ${countFilled(cells)} cells for ${columns} columns: name a column for each cell, or empty the others. In CSV, put quotes around a cell that holds ${named}.`,
  });
}

/** Those of the cells of the id, the name and the tag. */
function checkFaults(id: CellFault | undefined, others: ReadonlyArray<CellFault | undefined>): void {
  if (id === "error" || others.includes("error")) throw invalidBody(BROKEN_CELL);
  if (id === "rounded") throw invalidBody(SHORTENED_ID);
  if (others.includes("rounded")) throw invalidBody(ROUNDED_TEXT);
}

/** The id of a row that has none, if one is to be made. All cells count, so that no two different rows are one plant. */
function makeId(cells: readonly Cell[], before: bigint, { decode, ids }: Table): bigint | string | undefined {
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
function pick(cells: readonly Cell[], places: readonly number[], { noteUnused }: Reader): number {
  if (places.length === 1) return places[0]!;
  const [first, ...others] = places.filter((at) => cells[at] !== undefined && cells[at] !== "");
  others.forEach(noteUnused);
  return first ?? places.find((at) => cells[at] !== undefined) ?? -1;
}

/** Notes the columns that are not imported; returns what notes one that is, but not in all rows. */
function createUnused({ names, id, name, tag }: Layout, { unusedColumns }: Findings): (at: number) => void {
  const noted = new Set<number>();
  function note(at: number): void {
    if (noted.has(at) || noted.size >= UNUSED_MAX) return;
    noted.add(at);
    unusedColumns.push(toColumnName(names[at]!, at));
  }
  const used = new Set([...id, ...name, ...tag]);
  for (const at of names.keys()) if (!used.has(at)) note(at);
  return note;
}
