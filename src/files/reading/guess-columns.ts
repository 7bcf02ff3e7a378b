import { isGrouped, isId, isShortened } from "../cells.ts";
import { findColumn, openColumnKeys, shorten } from "./columns.ts";
import type { Layout } from "./columns.ts";
import { createRoleFinder } from "./headings.ts";
import type { Role } from "./headings.ts";
import { isLatin } from "./latin-name.ts";
import { NAME_PARTS } from "./plant-name.ts";
import type { NamePart } from "./plant-name.ts";
import type { Asked } from "./reading.ts";

/** The columns of a table, and what people should know of the guess. */
export type GuessedColumns = Readonly<{
  layout: Layout;
  doubts: readonly string[];
  /** Whether the first rows have ids. */
  hasIds: boolean;
  /** Whether nearly all names are Latin, so that another one is probably none. */
  areLatin: boolean;
}>;

/** A column by its heading, and the cells below it that are not empty. */
type Column = Readonly<{
  at: number;
  key: string;
  name: string;
  role: Role | undefined;
  rank: number;
  cells: readonly string[];
  share: number;
}>;

/**
 * Finds the columns of id, name and tag by their headings, and by what is below them. `names`: empty where no row names
 * the columns; `body`: the first rows, trimmed. Throws `invalid_csv_header` if a column that was asked for is not there.
 */
export function guessColumns(names: readonly string[], body: ReadonlyArray<readonly string[]>, asked: Asked): GuessedColumns {
  const columns = toColumns(names, body);
  const doubts: string[] = [];
  const name = asked.name ? asked.name.flatMap((wanted) => findColumn(names, wanted)) : guessName(columns, { names, body, asked, doubts });
  const free = columns.filter(({ at }) => !name.includes(at));
  const named = body.filter((row) => name.length === 0 || name.some((at) => /\p{L}/u.test(row[at] ?? "")));
  const id = asked.id === undefined ? guessId(free, named, doubts) : findColumn(names, asked.id);
  const rest = free.filter(({ at }) => !id.includes(at));
  const tag = asked.tag === undefined ? guessTag(rest, name[0] ?? -1) : findColumn(names, asked.tag);
  // One column alone is the name as it stands.
  const columnAt = (place: number | undefined) => columns.find(({ at }) => at === place);
  const parts = name.map((at) => (name.length > 1 ? partOf(columnAt(at)?.role) : undefined));
  // Those with a small letter may lack the genus.
  const joined = named.map((row) => name.flatMap((at) => row[at] || []).join(" ")).filter((text) => !/^\P{L}*\p{Ll}/u.test(text));
  const areLatin = joined.length > 0 && joined.filter(isLatin).length >= joined.length * LATIN_MIN;
  const hasIds = id.some((at) => (columnAt(at)?.share ?? 0) > 0);
  return { layout: { names, id, name, tag, parts }, doubts, hasIds, areLatin };
}

const LATIN_MIN = 0.8;

function toColumns(names: readonly string[], body: ReadonlyArray<readonly string[]>): Column[] {
  const keyOf = openColumnKeys(names);
  const find = createRoleFinder();
  const columns = names.flatMap((name, at) => {
    const cells = body.map((row) => row[at] ?? "").filter((cell) => cell !== "");
    const { role, rank = 0 } = find(name) ?? { role: undefined };
    // Of a hundred thousand columns, most may be empty.
    if (cells.length === 0 && body.length > 0 && role === undefined) return [];
    return { at, key: keyOf(at), name, role, rank, cells, share: body.length === 0 ? 1 : cells.length / body.length };
  });
  // Beside a species, an epithet is the infraspecific one.
  const isDouble =
    columns.some(({ role, name }) => role === "species" && !isEpithet(name)) && !columns.some(({ role }) => role === "infraspecific");
  return isDouble
    ? columns.map((column) => (isEpithet(column.name) && column.role === "species" ? { ...column, role: "infraspecific" } : column))
    : columns;
}

function isEpithet(heading: string): boolean {
  return /^[eé]p[iíì]t/iu.test(heading.trim());
}

function partOf(role: Role | undefined): NamePart | undefined {
  return NAME_PARTS.find((part) => part === role);
}

/** What the columns of these roles are, the likeliest first. */
function likeliest(columns: readonly Column[], ...roles: readonly Role[]): Column[] {
  const found = columns.filter(({ role }) => role !== undefined && roles.includes(role));
  return found.toSorted(
    (left, right) => roles.indexOf(left.role!) - roles.indexOf(right.role!) || left.rank - right.rank || left.at - right.at,
  );
}

type Looking = Readonly<{ names: readonly string[]; body: ReadonlyArray<readonly string[]>; asked: Asked; doubts: string[] }>;

/** The column of the whole name; its parts, if it has none, or one that holds something else; or the column that looks like names. */
function guessName(columns: readonly Column[], { names, body, asked, doubts }: Looking): number[] {
  const taken = new Set([asked.id, asked.tag].flatMap((wanted) => (wanted === undefined ? [] : findColumn(names, wanted))));
  const open = columns.filter((column) => !taken.has(column.at) && (column.share > 0 || asked.emptyNames) && !isOfAnswers(column));
  const [genus] = likeliest(open, "genus");
  const parts = NAME_PARTS.flatMap((part) => likeliest(open, part).slice(0, 1));
  const isComposed = genus !== undefined && parts.some(({ role }) => EPITHETS.includes(role));
  const wholes = likeliest(open, "name").filter((column) => !isMostly(column, isNumber));
  // Beside a column of scientific names, one that is called `Name` may hold what people say.
  const whole = wholes.find(isScientific) ?? wholes[0];
  const isWhole = whole && !(isComposed && genus.share >= 0.5 && !holds(whole, genus));
  if (isComposed && !isWhole) {
    noteSecond(genus, open, doubts);
    return parts.map(({ at }) => at);
  }
  const [known] = [...(isWhole ? [whole] : []), ...likeliest(open, "species"), ...(genus ? [genus] : []), ...likeliest(open, "vernacular")];
  // A heading that we do not know may be above the scientific names, and a known one above those of people.
  const unknown = guessByCells(open.filter(({ role }) => role === undefined || role === "cultivar" || role === "variety"));
  const pair = known || (unknown && isScientific(unknown)) ? undefined : guessPair(open);
  if (pair) {
    doubts.push(`The ${pair.map(nameOf).join(" and the ")} are taken for the name, as they look like genus and species.`);
    return pair.map(({ at }) => at);
  }
  const best = known && (isScientific(known) || !unknown || !isScientific(unknown)) ? known : unknown;
  if (!best) return [];
  const isSure =
    best === known
      ? best === whole || isScientific(best) || (best.role === "vernacular" && !unknown)
      : open.length === 1 && names[best.at] === "";
  if (!isSure) doubts.push(`The ${nameOf(best)} is taken for the name, as it looks like one.`);
  noteSecond(best, open, doubts);
  return [best.at, ...findCultivar(best, open, body)];
}

/** Two tables may stand side by side in a sheet: then the columns of the name are there twice. */
function noteSecond({ at, name, role }: Column, columns: readonly Column[], doubts: string[]): void {
  const plain = (text: string) => text.toLowerCase().replace(/[\s._]*\d{1,2}$/, "");
  const isAgain = (column: Column) => plain(column.name) === plain(name) && (column.role === role || column.role === undefined);
  const second = columns.find((column) => column.at > at && name !== "" && isAgain(column));
  if (second)
    doubts.push(
      `The ${nameOf(second)} is called ${shorten(second.name)} too: if a second table begins there, its plants are not imported.`,
    );
}

/** The column of the cultivar beside a whole name, as in `Tomato,Sungold`, if most of the names do not have it in them. */
function findCultivar({ at }: Column, columns: readonly Column[], body: Looking["body"]): number[] {
  const [cultivar] = likeliest(columns, "cultivar", "variety").filter((column) => column.at !== at && isMostly(column, isWord));
  if (!cultivar) return [];
  const filled = body.filter((row) => row[cultivar.at] && row[at]);
  const isInside = (row: readonly string[]) => row[at]!.toLowerCase().includes(row[cultivar.at]!.replaceAll(QUOTES, "").toLowerCase());
  return filled.filter(isInside).length > filled.length / 2 ? [] : [cultivar.at];
}

const QUOTES = /^['‘"“]|['’"”]$/gu;

/** Whether it says no words, but how many, or yes and no: a part of a name has another meaning then, as an English `Sort` has. */
function isOfAnswers(column: Column): boolean {
  return (
    EPITHETS.includes(column.role) &&
    isMostly(column, (cell) => isNumber(cell) || /^(?:y|n|yes|no|true|false|ja|nein|oui|non|x)$/iu.test(cell))
  );
}

/** What makes a name together with a genus. */
const EPITHETS: ReadonlyArray<Role | undefined> = ["species", "infraspecific", "subspecies", "variety", "form", "group", "cultivar"];

function nameOf({ key }: Column): string {
  return /^column \d+$/.test(key) ? key : `column ${key}`;
}

/** The column with most Latin names, or else the first that holds mostly words. */
function guessByCells(columns: readonly Column[]): Column | undefined {
  const shares = columns.map((column) => ({ column, latin: shareOf(column, isLatin) * column.share }));
  const best = shares.toSorted((left, right) => right.latin - left.latin)[0];
  if (best && best.latin >= 0.3) return best.column;
  return columns.find((column) => column.share >= 0.5 && isMostly(column, isWord)) ?? columns.find((column) => isMostly(column, isWord));
}

/** Two columns, side by side, whose cells make Latin names together. */
function guessPair(columns: readonly Column[]): readonly Column[] | undefined {
  // They are in their order: there may be a hundred thousand.
  const pairs = columns.map((column, place) => [column, columns[place + 1]] as const);
  return pairs.find((pair): pair is readonly [Column, Column] => {
    const [{ at: left, cells }, next] = pair;
    if (next?.at !== left + 1 || next.cells.length !== cells.length || cells.some((cell) => cell.includes(" "))) return false;
    return cells.filter((cell, at) => isLatin(`${cell} ${next.cells[at]}`)).length >= cells.length * LATIN_MIN;
  });
}

function isScientific(column: Column): boolean {
  return shareOf(column, isLatin) >= 0.5;
}

/** Whether its names mostly begin with what a column of genera says. */
function holds(whole: Column, genus: Column | undefined): boolean {
  const genera = new Set(genus?.cells.map((cell) => cell.toLowerCase()));
  return shareOf(whole, (cell) => genera.has(cell.toLowerCase().split(/\s/, 1)[0]!)) >= 0.5;
}

/**
 * The likeliest column of ids, if whole numbers are in it, each once. One that is called `id` is meant as such. `named`: the
 * rows with a name, because below a table are totals and notes.
 */
function guessId(columns: readonly Column[], named: ReadonlyArray<readonly string[]>, doubts: string[]): number[] {
  const known = likeliest(columns, "id");
  const filled = known.filter(({ share }) => share > 0);
  // Without a heading, the first column is one of ids if it looks like that.
  const [first] = columns;
  const isNumbered = first?.at === 0 && first.name === "" && first.share > 0.5 && isMostly(first, isLikeId);
  for (const column of filled.length === 0 && isNumbered ? [first] : filled) {
    const cells = named.map((row) => row[column.at] ?? "").filter((cell) => cell !== "");
    const code = cells.find((cell) => !isId(cell));
    const isOurs = /^id$/i.test(column.key);
    if (isOurs && code !== undefined && !cells.some(isLikeId))
      doubts.push(`No cell of the column id is a whole number: choose no column for the ids, so that they are made.`);
    const isOnce = code === undefined && new Set(cells).size === cells.length;
    if (isOnce && isCount(column, cells)) doubts.push(`The ${nameOf(column)} is taken for the ids: if it counts something, choose none.`);
    // Where some are shortened, the others must not get made ones: their rows are refused.
    if (isOurs || isOnce || cells.some((cell) => isShortened(cell) || isGrouped(cell))) return [column.at];
    const why = code === undefined ? "the same number twice" : `codes such as ${shorten(code)}, which are no ids`;
    doubts.push(`The ${nameOf(column)} holds ${why}: it is not imported. It can be part of the name.`);
  }
  return known.slice(0, filled.length === 0 ? 1 : 0).map(({ at }) => at);
}

/** Whether a column that is called `Number`, or not at all, may hold how many plants there are. Those that number rows rise. */
function isCount({ key }: Column, cells: readonly string[]): boolean {
  return /^(?:n|column \d+$)/i.test(key) && cells.some((cell, at) => at > 0 && BigInt(cell) <= BigInt(cells[at - 1]!));
}

/** The likeliest column of tags that has any; without headings, the one behind the name. */
function guessTag(columns: readonly Column[], name: number): number[] {
  const [known] = likeliest(
    columns.filter((column) => column.share > 0 && !isMostly(column, isCoordinate)),
    "tag",
  );
  if (known) return [known.at];
  const filled = columns.filter(({ share }) => share > 0);
  const behind = filled.find((column) => column.at === name + 1 && column.name === "");
  return behind && filled.length === 1 ? [behind.at] : [];
}

function isMostly(column: Column, is: (cell: string) => boolean): boolean {
  return shareOf(column, is) > 0.5;
}

function shareOf({ cells }: Column, is: (cell: string) => boolean): number {
  return cells.length === 0 ? 0 : cells.filter(is).length / cells.length;
}

function isLikeId(cell: string): boolean {
  return isId(cell) || isShortened(cell) || isGrouped(cell);
}

function isNumber(cell: string): boolean {
  return /^[\d\s.,:/-]+$/.test(cell);
}

/** What some call a location is none to find plants by. */
function isCoordinate(cell: string): boolean {
  return /^-?\d{1,3}\.\d{3,}/.test(cell);
}

function isWord(cell: string): boolean {
  return /\p{L}{2}/u.test(cell);
}
