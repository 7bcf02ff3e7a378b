import type { DatabaseSync } from "node:sqlite";
import { isFound } from "../../../domain/terms.ts";
import type { SearchTerms } from "../../../domain/terms.ts";

/** How many plants of each tag matched; null is no tag. `checked`: how many ids of those given were looked at. */
export type Tally = Readonly<{ tags: ReadonlyMap<string | null, number>; checked: number }>;

/** The most work in one step, in characters of names and tags: some milliseconds, so that searches run in between. */
const STEP_CHARACTERS = 100_000;

/** What reading a plant costs besides its text, in characters. */
const CHARACTERS_A_PLANT = 20;

export function createTally(db: DatabaseSync): (ids: BigInt64Array, terms: SearchTerms) => Tally {
  const find = db.prepare("SELECT name, tag FROM plants WHERE id = ?");
  return (ids, terms) => {
    const tags = new Map<string | null, number>();
    let work = 0;
    let checked = 0;
    for (; checked < ids.length && work < STEP_CHARACTERS; checked += 1) {
      const row = find.get(ids[checked]!) as { name: string; tag: string | null } | undefined;
      work += CHARACTERS_A_PLANT;
      if (!row) continue;
      const { name, tag } = row;
      work += name.length + (tag?.length ?? 0);
      if (isFound(row, terms)) tags.set(tag, (tags.get(tag) ?? 0) + 1);
    }
    return { tags, checked };
  };
}
