import type { PlantCount } from "../../src/client/client.ts";

/** A name, or what is shown instead of one that no one could see. */
export function nameLabel(name: string): string {
  return isInvisible(name) ? "(no name)" : name;
}

export const WITHOUT_TAG = "Without a tag";

/** A tag, or what is shown instead of one that no one could see. */
export function tagLabel(tag: string | null): string {
  if (tag === null) return WITHOUT_TAG;
  return isInvisible(tag) ? "(empty tag)" : tag;
}

/** Whether there is nothing to see: only spaces, and letters that have no form, such as marks of direction. */
export function isInvisible(text: string): boolean {
  return /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u.test(text);
}

/** A number of plants as people of the reader's language write it, and as exact as it is. */
export function countText({ plants, precision }: PlantCount): string {
  const text = plants.toLocaleString();
  if (precision === "exact") return text;
  return precision === "about" ? `about ${text}` : `${text}+`;
}
