import { asPlantId } from "../../plant.ts";
import type { NewPlant } from "../../plant.ts";
import { wordsOf } from "../../words.ts";
import { fromColumn, toColumn } from "./text.ts";

/** As the statements give plants. */
export type PlantRow = [id: bigint, name: string, tag: string | null];

/** Plants as columns: ids, names, tags, each an array in text. The driver would write the same, and take three times as long. */
export function seenOf(plants: readonly NewPlant[]): [ids: string, names: string, tags: string] {
  return [
    `{${plants.map(({ id }) => id).join()}}`,
    `{${plants.map(({ name }) => quote(toColumn(name))).join()}}`,
    `{${plants.map(({ tag }) => (tag === undefined ? "NULL" : quote(toColumn(tag)))).join()}}`,
  ];
}

/** Plants as columns, with the words that they are found by. */
export function contentOf(plants: readonly NewPlant[]): [...ReturnType<typeof seenOf>, words: string] {
  return [...seenOf(plants), `{${plants.map(({ name }) => quote(toVector(name))).join()}}`];
}

/** An element of an array in text (doc: arrays, "Array Input and Output Syntax"). */
function quote(element: string): string {
  return element.includes('"') || element.includes("\\") ? `"${element.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${element}"`;
}

/**
 * A name as a tsvector, in text: words are letters and digits, so nothing is to be quoted. They are so few that they always fit into the
 * megabyte that one may hold (doc: textsearch-limitations).
 */
function toVector(name: string): string {
  return wordsOf(name).join(" ");
}

/** The words of a search as a tsquery, each of which may be the beginning of a longer one. */
export function toQuery(words: readonly string[]): string {
  return words.map((word) => `${word}:*`).join(" & ");
}

export function toPlant([id, name, tag]: PlantRow): NewPlant {
  return tag === null ? { id: asPlantId(id), name: fromColumn(name) } : { id: asPlantId(id), name: fromColumn(name), tag: fromColumn(tag) };
}
