import type { Plant } from "../../src/client/client.ts";
import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../src/plant.ts";

/** A plant as it is typed. */
export type Draft = Readonly<{ id: string; name: string; tag: string }>;

export const ID_RULE = `The id is a whole number from ${PLANT_ID_MIN} to ${PLANT_ID_MAX}.`;

/** Reads an id as it is typed: never through a number, which rounds long ones. Undefined when it is none. */
export function parseId(text: string): bigint | undefined {
  // A Japanese keyboard types digits, and a minus, as wide as its letters.
  const digits = text.trim().replace(/[\uff0d-\uff19]/g, (wide) => wide.normalize("NFKC"));
  if (!/^-?\d{1,30}$/.test(digits)) return undefined;
  const id = BigInt(digits);
  return id < PLANT_ID_MIN || id > PLANT_ID_MAX ? undefined : id;
}

export function toDraft({ id, name, tag }: Plant): Draft {
  return { id: String(id), name, tag: tag ?? "" };
}

/**
 * The plant of a draft. A field that nobody touched stays exactly as it was, even where an input could not show it: a line
 * break, or a tag without a letter. Keyboards add spaces at the ends, which nobody sees.
 */
export function toPlant(id: bigint, draft: Draft, original?: Plant): Plant {
  const before = original && toDraft(original);
  const name = original !== undefined && draft.name === before?.name ? original.name : draft.name.trim();
  const tag = original !== undefined && draft.tag === before?.tag ? original.tag : typedTag(draft.tag);
  return tag === undefined ? { id, name } : { id, name, tag };
}

/** A tag as it is typed. Undefined is none. */
export function typedTag(text: string): string | undefined {
  const tag = text.trim();
  return tag === "" ? undefined : tag;
}
