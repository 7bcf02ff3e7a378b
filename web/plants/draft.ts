import type { Plant } from "../../src/client/client.ts";
import { normalize } from "../../src/domain/normalization.ts";
import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../src/domain/plant.ts";
import { isInvisible } from "./label.ts";

export type Draft = Readonly<{ id: string; name: string; tag: string }>;

export const ID_RULE = `The id is a whole number from ${PLANT_ID_MIN} to ${PLANT_ID_MAX}.`;

/** Reads an id as it is typed: never through a number, which rounds long ones. Undefined when it is none. */
export function parseId(text: string): bigint | undefined {
  // A Japanese keyboard types digits, and a minus, as wide as its letters.
  const digits = trimmed(text).replace(/[\uff0d-\uff19]/g, (wide) => normalize(wide, "NFKC"));
  if (!/^-?\d{1,30}$/.test(digits)) return undefined;
  const id = BigInt(digits);
  return id < PLANT_ID_MIN || id > PLANT_ID_MAX ? undefined : id;
}

export function toDraft({ id, name, tag }: Plant): Draft {
  return { id: String(id), name, tag: tag ?? "" };
}

/**
 * The plant of a draft. A field that no one touched stays exactly as it was, even where an input could not show it: a line
 * break, or a tag without a letter.
 */
export function toPlant(id: bigint, draft: Draft, original?: Plant): Plant {
  const before = original && toDraft(original);
  const name = original !== undefined && draft.name === before?.name ? original.name : trimmed(draft.name);
  const tag = original !== undefined && draft.tag === before?.tag ? original.tag : typedTag(draft.tag);
  return tag === undefined ? { id, name } : { id, name, tag };
}

/** What is wrong with a name that was typed: there is nothing to see. One that was so before, and is not touched, may stay. */
export function nameProblem({ name }: Plant, original?: Plant): string | undefined {
  return isInvisible(name) && name !== original?.name ? "The plant needs a name: type one." : undefined;
}

/** A tag as it is typed. Undefined is none. */
export function typedTag(text: string): string | undefined {
  const tag = trimmed(text);
  return tag === "" ? undefined : tag;
}

/**
 * What is typed, without what no one sees at its ends: spaces, which keyboards add, and marks without a width, which come
 * along from where it was copied.
 */
function trimmed(text: string): string {
  return text
    .trim()
    .replace(/^[\u200b\u200e\u200f\u2060]{1,9}|[\u200b\u200e\u200f\u2060]{1,9}$/g, "")
    .trim();
}
