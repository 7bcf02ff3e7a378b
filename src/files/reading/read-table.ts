import { countFilled, isEmpty, isId } from "../cells.ts";
import type { CellRow, CellSource, RefusedLine } from "../cells.ts";
import {
  FIELDS,
  invalidHeader,
  JOINED,
  JOINED_PLANTS,
  nameByPosition,
  openColumnKeys,
  placeColumns,
  placeInOrder,
  shorten,
} from "./columns.ts";
import type { Layout } from "./columns.ts";
import { toBytes } from "../encoding/encodings.ts";
import { guessColumns } from "./guess-columns.ts";
import type { GuessedColumns } from "./guess-columns.ts";
import { endOfHeading, findLateHeading, guessHeading } from "./guess-heading.ts";
import { createRoleFinder } from "./headings.ts";
import { isLatin } from "./latin-name.ts";
import { HEADING_ROWS, SEPARATORS } from "./reading.ts";
import type { Asked, Reading } from "./reading.ts";
import { addDoubt } from "../row.ts";
import type { Findings, Plain, ReadOptions, Rows } from "../row.ts";
import { CELL_CHARACTERS, readSample } from "./table-sample.ts";
import type { SourceRow } from "./table-sample.ts";
import { createRowReader } from "./table.ts";

/** Reads CSV whose first line names our columns, or is a plant. Throws `invalid_csv_header`. */
export async function* readPlain(source: CellSource, plain: Plain, { parsePlant }: ReadOptions, findings: Findings): Rows {
  const { hasHeader, ids, dropEmptyTags } = plain;
  let read: ReturnType<typeof createRowReader> = (row) => row as RefusedLine;
  let layout: Layout | undefined;
  let isEmptyTable = true;
  for await (const some of source.rows) {
    const rows = [];
    for (const row of some) {
      if (!layout && "refusal" in row && hasHeader) throw invalidHeader(source.isOneLine ? JOINED : undefined);
      if (!layout && "cells" in row) {
        layout = toPlainLayout(row, plain, source);
        findings.layout = layout;
        const { decode, delimiter } = source;
        read = createRowReader({ layout, ids, dropEmptyTags, decode, delimiter, style: "plain", emptyNames: true, parsePlant }, findings);
        if (hasHeader) continue;
      }
      isEmptyTable = false;
      rows.push(read(row));
    }
    yield rows;
  }
  if (!layout && hasHeader) throw invalidHeader(source.isOneLine ? JOINED : undefined);
  if (hasHeader && isEmptyTable && findings.unusedColumns.length > 0) throw invalidHeader(JOINED);
}

function toPlainLayout({ cells }: CellRow, { hasHeader, columns, ids }: Plain, source: CellSource): Layout {
  const isWithoutIds = ids.kind !== "file";
  const filled = cells.slice(0, countFilled(cells));
  if (!hasHeader) {
    const layout = placeInOrder(nameByPosition(filled.length, columns), columns, isWithoutIds);
    const used = new Set([...layout.id, ...layout.name, ...layout.tag]);
    if (source.isOneLine && used.size < layout.names.length) throw invalidHeader(JOINED_PLANTS);
    return layout;
  }
  const names = cells.map((cell = "") => toText(cell, source.decode));
  try {
    const layout = placeColumns(names, columns, isWithoutIds);
    // A column behind the last name may be chosen by its position.
    const width = Math.max(filled.length, ...[layout.id, layout.name, layout.tag].flat().map((at) => at + 1));
    return { ...layout, names: names.slice(0, width) };
  } catch (thrown) {
    throw source.isOneLine && areJoined(names) ? invalidHeader(JOINED) : thrown;
  }
}

/** Whether these look like the names of columns with rows behind them on the same line: we know some of them, but not all. */
function areJoined(names: readonly string[]): boolean {
  const find = createRoleFinder();
  const known = names.filter((name) => find(name)).length;
  return known > 0 && known < names.filter((name) => name !== "").length;
}

/** The text of a cell is only compared and shown here, so it may be mended. */
function toText(cell: string, decode: CellSource["decode"]): string {
  try {
    return decode(cell).trim();
  } catch {
    return new TextDecoder().decode(toBytes(cell)).trim();
  }
}

/** Reads a table as people have it: what is not asked for is guessed from its first rows. Throws `invalid_csv_header`. */
export async function* readAsked(source: CellSource, asked: Asked, { parsePlant, table: options }: ReadOptions, findings: Findings): Rows {
  const { sample, all } = await readSample(source.rows);
  const { decode, delimiter, isExport = false } = source;
  const { guessed, heading, endLine, reading, isSpaced } = planReading(sample, source, asked, findings);
  const { layout, areLatin } = guessed;
  const style = isExport ? "export" : "foreign";
  const emptyNames = asked.emptyNames ?? false;
  const { ids } = reading;
  const dropEmptyTags = !isExport || (options !== undefined && "asked" in options && options.dropEmptyTags === true);
  const table = { layout, ids, style, emptyNames, areLatin, isSpaced, dropEmptyTags, decode, delimiter, parsePlant } as const;
  const read = createRowReader(table, findings);
  const isSame = (row: CellRow) => heading !== undefined && isRepeated(row, heading);
  for await (const some of all) {
    const rows = some.filter((row) => {
      const isOver = row.line > endLine && "cells" in row && isTitle(row, layout);
      if (isOver) noteTitle(row, { areLatin, decode, findings });
      const isRow = row.line > endLine && ("refusal" in row || !(row.cells.every(isEmpty) || isSame(row) || isOver));
      if (!isRow && row.line !== heading?.line) findings.skipped += 1;
      return isRow;
    });
    yield rows.map(read);
  }
}

/** Whether the row is the heading again, as on each page of a list. */
function isRepeated({ cells }: CellRow, heading: CellRow): boolean {
  return heading.cells.every((cell, at) => cells[at] === cell) && countFilled(cells) === countFilled(heading.cells);
}

/** Whether it is one cell over all columns, as a title over some rows is. */
function isTitle({ cells, repeated }: CellRow, { names }: Pick<Layout, "names">): boolean {
  return repeated !== undefined && names.length > 1 && repeated.size === names.length - 1 && cells.length === names.length;
}

type Titles = Readonly<{ areLatin: boolean; decode: CellSource["decode"]; findings: Findings }>;

/** A title is no plant. It is named if it may be one: if it is Latin, or other names are not. */
function noteTitle({ line, cells }: CellRow, { areLatin, decode, findings }: Titles): void {
  const text = toText(cells[0] ?? "", decode);
  if (!areLatin || isLatin(text))
    addDoubt(findings, `The row is one cell over all columns, and is taken for a title: ${shorten(text)}`, line);
}

/** `endLine`: that of the last row of the heading. */
type Plan = Readonly<{ guessed: GuessedColumns; heading: CellRow | undefined; endLine: number; reading: Reading; isSpaced: boolean }>;

function planReading(sample: readonly SourceRow[], source: CellSource, asked: Asked, findings: Findings): Plan {
  const filled = sample.filter((row) => "cells" in row && !row.cells.every(isEmpty)) as CellRow[];
  const texts = filled.map(({ cells }) => cells.map((cell = "") => toText(cell.slice(0, CELL_CHARACTERS), source.decode)));
  findings.firstRows = filled.slice(0, HEADING_ROWS).map(({ line }, row) => ({ line, cells: texts[row]! }));
  const at = source.names ? -1 : headingAt(filled, texts, { asked, source, findings });
  const heading = filled[at];
  const end = heading && !source.isExport ? endOfHeading(texts, at) : at;
  for (const [row, { line }] of filled.slice(0, Math.max(at, 0)).entries()) if (texts[row]!.some(isLatin)) addDoubt(findings, ABOVE, line);
  if (end > at) addDoubt(findings, "More than one row names the columns.", filled[end]!.line);
  const below = texts.filter((_, row) => row > end && !(heading && isRepeated(filled[row]!, heading)));
  const names = source.names ?? (heading ? mergeNames(texts.slice(at, end + 1), below) : unnamedColumns(filled, texts, findings));
  const titles = new Set(texts.filter((_, row) => isTitle(filled[row]!, { names })));
  const body = below.filter((row) => !titles.has(row));
  const [id = "", name = "", tag = ""] = names;
  const guessed = guessColumns(names, body, source.isExport && heading ? { id, name: [name], tag, ...asked } : asked);
  const reading = toReading(guessed, heading?.line ?? 0, asked, findings);
  // Even where it is not enough: people choose from it.
  findings.layout = guessed.layout;
  findings.reading = reading;
  if (source.isOneLine && (areJoined(names) || areJoinedPlants(texts))) throw invalidHeader(heading ? JOINED : JOINED_PLANTS);
  if (guessed.layout.name.length === 0) throw invalidHeader(NO_NAMES);
  if (guessed.layout.id.length === 0 && asked.ids?.kind === "file") throw invalidHeader(NO_IDS);
  if (heading && texts[at]!.every((cell) => cell === "" || IN_QUOTES.test(cell))) addDoubt(findings, QUOTED, heading.line);
  for (const doubt of guessed.doubts) addDoubt(findings, doubt);
  const spaced = filled.filter(({ cells }) => cells.some((cell, place) => place > 0 && cell?.startsWith(" ")));
  return { guessed, heading, endLine: filled[end]?.line ?? 0, reading, isSpaced: spaced.length >= filled.length / 2 };
}

type TextRow = readonly string[];

const IN_QUOTES = /^['‘’“”„`].*['‘’“”`]$/su;
const QUOTED = "The names of the columns have quotes of another kind around them: replace those of all cells with double quotes.";

const ABOVE = "The row is above the one that names the columns, and is no plant.";

/** The names of the columns; the last row of several counts most. */
function mergeNames(rows: readonly TextRow[], body: readonly TextRow[]): string[] {
  const width = rows.reduce((most, row) => Math.max(most, countFilled(row)), 0);
  const names = Array.from({ length: width }, (_, at) => rows.map((row) => row[at] ?? "").findLast((cell) => cell !== "") ?? "");
  const filled = body.map(countFilled);
  if (body.length === 0 || !filled.every((count) => count === width + 1)) return names;
  // R writes the names of rows without a heading for them (`write.table`).
  const isNumbered = body.every(([first]) => isId(first)) && new Set(body.map(([first]) => first)).size === body.length;
  if (rows.every((row) => row.length > width)) return [...names, ""];
  return isNumbered && names[0] !== "" && createRoleFinder()(names[0]!)?.role !== "id" ? ["", ...names] : names;
}

/**
 * As many columns as most rows of a text have cells: a row with more may have a name with a separator in it. In a sheet, the
 * place of a cell is certain.
 */
function unnamedColumns(filled: readonly CellRow[], texts: readonly TextRow[], findings: Findings): string[] {
  const widest = texts.reduce((most, row) => Math.max(most, countFilled(row)), 0);
  if (findings.sheet !== undefined) return Array.from({ length: widest }, () => "");
  const counts = new Map<number, number>();
  for (const { cells } of filled) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [usual = 0] = Array.from(counts).toSorted((one, other) => other[1] - one[1] || one[0] - other[0])[0] ?? [];
  if (counts.size > 1) addDoubt(findings, UNEVEN);
  return Array.from({ length: Math.min(usual, widest) }, () => "");
}

const UNEVEN = "The rows have different numbers of cells: check those whose names have a comma or another separator in them.";

const NO_IDS = "No column holds ids: choose one, or have ids made.";

const NO_NAMES = "No column looks like one of names: choose the column, or the line that names the columns.";

/** Whether a line without an end has several of what separates cells. */
function areJoinedPlants([row = [], ...others]: readonly TextRow[]): boolean {
  return others.length === 0 && (row.length > FIELDS.length || SEPARATORS.some((one) => one !== "" && row.join(one).split(one).length > 2));
}

type Looking = Readonly<{ asked: Asked; source: CellSource; findings: Findings }>;

function headingAt(filled: readonly CellRow[], texts: readonly TextRow[], { asked, source, findings }: Looking): number {
  if (asked.heading !== undefined) {
    const at = filled.findIndex(({ line }) => line === asked.heading);
    if (at === -1 && asked.heading > 0) throw invalidHeader(NO_HEADING);
    return at;
  }
  if (source.isExport) return 0;
  const { at, isCertain } = guessHeading(texts);
  if (!isCertain) addDoubt(findings, at === -1 ? UNNAMED : `Line ${filled[at]!.line} is taken for the names of the columns.`);
  const late = at === -1 ? filled[findLateHeading(texts)] : undefined;
  if (late) addDoubt(findings, LATE, late.line);
  return at;
}

const NO_HEADING = "No row begins on the line that is to name the columns: choose another line.";
const LATE = "The row looks like the names of the columns, but is not among the first twenty: delete the rows above it.";
const UNNAMED = "No line is taken for the names of the columns: the first row is a plant.";

function toReading({ layout, hasIds }: GuessedColumns, heading: number, asked: Asked, { text, sheet }: Findings): Reading {
  const { names, id, name, tag } = layout;
  const keyOf = openColumnKeys(names);
  const first = ([at]: readonly number[]) => (at === undefined ? "" : keyOf(at));
  return {
    ...text,
    ...(sheet === undefined ? {} : { sheet }),
    heading,
    id: first(id),
    name: name.map(keyOf),
    tag: first(tag),
    ids: asked.ids ?? { kind: hasIds ? "file" : "content" },
    emptyNames: asked.emptyNames ?? false,
  };
}
