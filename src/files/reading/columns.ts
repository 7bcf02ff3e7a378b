import { CATALOGUE } from "../../../contract/generated/error-catalogue.ts";
import { PlantStoreError } from "../../domain/errors.ts";
import type { NamePart } from "./plant-name.ts";

export const FIELDS = ["id", "name", "tag"] as const;
export type PlantField = (typeof FIELDS)[number];

/** The columns of a table, and the positions of those that are imported. */
export type Layout = Readonly<{
  /** Empty where the table does not name them. */
  names: readonly string[];
  /** The first of these cells that is not empty is the id, or the tag. */
  id: readonly number[];
  tag: readonly number[];
  name: readonly number[];
  /** What each of the name's columns is in it: they are joined. Undefined where the first one that is not empty is the name. */
  parts?: ReadonlyArray<NamePart | undefined>;
}>;

/** What the columns were taken for, by name, or position as in `column 4`. Empty for none. */
export type ColumnChoice = Readonly<Partial<Record<PlantField, string>>>;

/** The columns that an import knows without a guess, under our names and those of Darwin Core (dwc.tdwg.org/terms). */
const KNOWN = { id: ["id", "catalogNumber"], name: ["name", "scientificName", "vernacularName"], tag: ["tag"] } as const;

/** What is said of columns that are missing: of files whose first line names the columns, and of those where none does. */
const MISSING = {
  named: {
    both: CATALOGUE.invalid_csv_header.message,
    id: "The first line does not name the column `id`: name it, as in id,name,tag, or send `reading={}`, which finds other columns, and makes ids if there are none.",
    name: "The first line does not name the column `name`: name it, as in id,name,tag, or send `reading={}`, which finds other columns, or plants without a heading.",
  },
  unnamed: {
    both: "No column is taken for the id, and none for the name: choose them, or send `reading={}`, which finds them.",
    id: "No column is taken for the id: choose one, or send `reading={}`, which makes ids if there are none.",
    name: "No column is taken for the name: choose one, or send `reading={}`, which finds it.",
  },
} as const;

/** What is said of a file that has no row, where its first line shows that there were some. */
export const JOINED =
  "No row is below the line that names the columns, and that line has columns that are not imported: if the file has rows, `curl -d` has removed its line ends, so send it with `--data-binary`.";

/** The same of a file that begins with a plant. */
export const JOINED_PLANTS =
  "The file is one line without a line end, and has cells that are not imported: if the file has more lines, `curl -d` has joined them, so send it with `--data-binary`; otherwise add a line end.";

/** The columns by the names that we know. Throws `invalid_csv_header`. */
export function placeColumns(names: readonly string[], choice: ColumnChoice, isWithoutIds: boolean): Layout {
  const lower = names.map((name) => name.toLowerCase());
  const find = (known: readonly string[]) => known.map((name) => lower.indexOf(name.toLowerCase())).filter((at) => at !== -1);
  const place = (field: PlantField) => (choice[field] === undefined ? find(KNOWN[field]) : findColumn(names, choice[field]));
  return complete({ names, id: place("id"), name: place("name"), tag: place("tag") }, isWithoutIds, "named");
}

/**
 * The columns of a file that does not name them: those of its first row, and at least one for each field that is wanted.
 * Where that row ends early, a field keeps the column that it has by the order while another one is left out.
 */
export function nameByPosition(cells: number, choice: ColumnChoice): string[] {
  const wanted = FIELDS.filter((field) => choice[field] !== "");
  const asked = wanted.map((field) => toPosition(choice[field] ?? "") + 1).filter((position) => position <= FIELDS.length);
  return Array.from({ length: Math.max(cells, wanted.length, ...asked) }, (_, at) => toColumnName("", at));
}

/** Takes such columns for `id`, `name` and `tag` in this order, leaving out those that were chosen. Throws `invalid_csv_header`. */
export function placeInOrder(names: readonly string[], choice: ColumnChoice, isWithoutIds: boolean): Layout {
  const taken = new Set(FIELDS.flatMap((field) => findColumn(names, choice[field] ?? "")));
  const rest = names.map((_, at) => at).filter((at) => !taken.has(at));
  const place = (field: PlantField) => (choice[field] === undefined ? rest.splice(0, 1) : findColumn(names, choice[field]));
  return complete({ names, id: place("id"), name: place("name"), tag: place("tag") }, isWithoutIds, "unnamed");
}

/** The same layout, if its columns are enough. */
function complete(layout: Layout, isWithoutIds: boolean, kind: keyof typeof MISSING): Layout {
  const lacksId = layout.id.length === 0 && !isWithoutIds;
  const lacksName = layout.name.length === 0;
  if (!lacksId && !lacksName) return layout;
  throw invalidHeader(MISSING[kind][!lacksName ? "id" : lacksId ? "both" : "name"]);
}

/** Its name, or its position if it has none. */
export function toColumnName(name: string, at: number): string {
  return name === "" ? `column ${at + 1}` : Array.from(name).slice(0, NAME_LENGTH_MAX).join("");
}

/** How many characters of the name of a column are reported. */
const NAME_LENGTH_MAX = 100;

/**
 * How a column is chosen: by its name, if only it has this one, or its position. Of the hundred thousand that a file may
 * have, few are asked for.
 */
export function openColumnKeys(names: readonly string[]): (at: number) => string {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== "") counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  const isOnly = (name: string) => name !== "" && name.length <= KEY_LENGTH_MAX && counts.get(name.toLowerCase()) === 1;
  return (at) => (isOnly(names[at]!) ? names[at]! : `column ${at + 1}`);
}

const KEY_LENGTH_MAX = 200;

/** The column that is called like this; none for an empty text. Throws `invalid_csv_header`. */
export function findColumn(names: readonly string[], wanted: string): readonly number[] {
  if (wanted === "") return [];
  const lower = wanted.trim().toLowerCase();
  const named = names.findIndex((name) => name.toLowerCase() === lower);
  const at = named === -1 ? toPosition(lower) : named;
  if (at >= 0 && at < names.length) return [at];
  throw invalidHeader("The file has no column that was asked for: check its name, or give its position, as in column 4.");
}

/** From 0; -1 if it is none. */
function toPosition(wanted: string): number {
  return Number(/^column ([1-9]\d{0,4})$/i.exec(wanted.trim())?.[1] ?? 0) - 1;
}

/** A text of a file in a message. */
export function shorten(text: string): string {
  return Array.from(text).slice(0, 40).join("");
}

/** In this file, because the page bundles only errors whose names are in its own sources (web/build.ts). */
export function invalidHeader(message?: string): PlantStoreError {
  return new PlantStoreError("invalid_csv_header", message === undefined ? {} : { message });
}
