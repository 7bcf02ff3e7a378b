import { openPauses } from "../../runtime/event-loop.ts";
import { nameKey } from "../../domain/name-order.ts";
import { asPlantId } from "../../domain/plant.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { wordsOfName } from "../../domain/terms.ts";
import type { SearchWord } from "../../domain/terms.ts";
import { fromColumn, toColumn } from "./engine/text.ts";

/** A plant as the statements return it. */
export type PlantRow = [id: bigint, name: string, tag: string | null];

type ToElement = (plant: NewPlant) => string;

const ID: ToElement = ({ id }) => String(id);
const NAME: ToElement = ({ name }) => quote(toColumn(name));
const TAG: ToElement = ({ tag }) => (tag === undefined ? "NULL" : quote(toColumn(tag)));
const WORDS: ToElement = ({ name }) => `"${toWords(name)}"`;
const KEY: ToElement = ({ name }) => `"${nameKey(name)}"`;
const CONTENT = [ID, NAME, TAG];
const SEARCHABLE = [...CONTENT, WORDS, KEY];
const KEYED = [ID, NAME, KEY];

/** Names have rarely more words. */
const FEW_WORDS = 16;

/** Plants as columns: ids, names and tags, each an array in text form. The driver would take three times as long. */
export function columnsOf(plants: readonly NewPlant[]): Promise<string[]> {
  return toColumns(plants, CONTENT);
}

/** Plants as columns, with their words for search and the keys of their names. */
export function searchableColumnsOf(plants: readonly NewPlant[]): Promise<string[]> {
  return toColumns(plants, SEARCHABLE);
}

/** The ids, names, and keys of the names. */
export function keyColumnsOf(plants: readonly NewPlant[]): Promise<string[]> {
  return toColumns(plants, KEYED);
}

/** Plants as rows, one after the other, likewise. Yields like `toColumns`. */
export async function rowsOf(plants: readonly NewPlant[]): Promise<Array<string | null>> {
  const values: Array<string | null> = [];
  const pauses = openPauses();
  for (const { id, name, tag } of plants) {
    values.push(String(id), toColumn(name), tag === undefined ? null : toColumn(tag), toWords(name), nameKey(name));
    const pause = pauses();
    if (pause) await pause;
  }
  return values;
}

/** Yields to other requests: tokenizing a thousand of the worst names takes half a second. */
async function toColumns(plants: readonly NewPlant[], kinds: readonly ToElement[]): Promise<string[]> {
  const columns = kinds.map((): string[] => []);
  const pauses = openPauses();
  for (const plant of plants) {
    kinds.forEach((toElement, at) => columns[at]!.push(toElement(plant)));
    const pause = pauses();
    if (pause) await pause;
  }
  return columns.map((elements) => `{${elements.join()}}`);
}

/** Texts as an array in text form. */
export function textsOf(texts: readonly string[]): string {
  return `{${texts.map((text) => quote(toColumn(text))).join()}}`;
}

/** An element of an array in text form (doc: arrays, "Array Input and Output Syntax"). */
function quote(element: string): string {
  return element.includes('"') || element.includes("\\") ? `"${element.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${element}"`;
}

/**
 * A name as a tsvector, in text form: the server drops words that occur twice. Words are letters and digits, so nothing
 * needs an escape. They are so few that they always fit into the megabyte that a tsvector may hold (doc:
 * textsearch-limitations).
 */
function toWords(name: string): string {
  const words = wordsOfName(name);
  // A thousand characters may decompose to eighteen thousand. For few words, a Set costs as much as the words.
  return (words.length > FEW_WORDS ? [...new Set(words)] : words).join(" ");
}

/** The words of a search as a tsquery (doc: datatype-textsearch, "tsquery"). */
export function toQuery(words: readonly SearchWord[]): string {
  return words.map(({ anyOf, isWhole }) => `(${anyOf.map((word) => (isWhole ? word : `${word}:*`)).join(" | ")})`).join(" & ");
}

/** The plant of a row, which may have more columns. */
export function toPlant([id, name, tag]: readonly [...PlantRow, ...unknown[]]): NewPlant {
  return tag === null ? { id: asPlantId(id), name: fromColumn(name) } : { id: asPlantId(id), name: fromColumn(name), tag: fromColumn(tag) };
}

/** The plants of rows, by their ids. */
export function plantsById(rows: readonly PlantRow[]): Map<PlantId, NewPlant> {
  return new Map(rows.map((row) => [asPlantId(row[0]), toPlant(row)]));
}

/** The plant of an entry as it is now: looked up by its id, however many entries the planner expects. */
export const joinPlant = (entry: string) =>
  `LEFT JOIN LATERAL (SELECT id, name, tag FROM store.plants WHERE plants.id = ${entry}.id LIMIT 1) AS plants ON true`;
