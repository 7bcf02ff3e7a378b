import type { PlantCount } from "../../src/client/client.ts";

/** A number of plants as people of the reader's language write it, and as exact as it is. */
export function countText({ plants, precision }: PlantCount): string {
  const text = plants.toLocaleString();
  if (precision === "exact") return text;
  return precision === "about" ? `about ${text}` : `${text}+`;
}
