import type { DatabaseSync } from "node:sqlite";
import { isFound } from "../../domain/terms.ts";
import type { SearchTerms } from "../../domain/terms.ts";
import type { TagCount, FoundTags } from "../tags.ts";
import { mostFrequent, COUNTED_MAX, TAGS_BYTES_MAX, TAGS_MAX } from "../tags.ts";
import { FIRST_TAG } from "./search/tag-count.ts";
import type { TagCursor, TagStep } from "./search/tag-count.ts";

/** How many plants of each tag matched; null is no tag. `checked`: how many ids of those given were looked at. */
export type Tally = Readonly<{ tags: ReadonlyMap<string | null, number>; checked: number }>;

/** The most work in one step, in characters of names and tags: some milliseconds, so that searches run in between. */
const TALLY_CHARACTERS = 100_000;

/** What reading a plant costs besides its text, in characters. */
const CHARACTERS_A_PLANT = 20;

export function createTally(db: DatabaseSync): (ids: BigInt64Array, terms: SearchTerms) => Tally {
  const find = db.prepare("SELECT name, tag FROM plants WHERE id = ?");
  return (ids, terms) => {
    const tags = new Map<string | null, number>();
    let work = 0;
    let checked = 0;
    for (; checked < ids.length && work < TALLY_CHARACTERS; checked += 1) {
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

/** Counts tags in steps, so that searches can run in between. */
export async function countTags(step: (cursor: TagCursor) => Promise<TagStep>): Promise<TagCount[]> {
  let tags: TagCount[] = [];
  let characters = 0;
  let open: TagCount | undefined;
  for (let cursor: TagCursor | undefined = FIRST_TAG; cursor;) {
    const { counts, next }: TagStep = await step(cursor);
    for (const { tag, plants } of counts) {
      // A step may end in the middle of its last tag.
      if (open?.tag === tag) open = { tag, plants: open.plants + plants };
      else {
        if (open) tags.push(open);
        open = { tag, plants };
        characters += tag.length;
      }
    }
    if (tags.length > 10 * TAGS_MAX || characters > 10 * TAGS_BYTES_MAX) {
      tags = mostFrequent(tags);
      characters = 0;
    }
    cursor = next;
  }
  return open ? [...tags, open] : tags;
}

/** How many steps a count of what is found may take: ten thousand usual plants need ten of them. */
const TALLY_STEPS_MAX = 20;

/** Looks at the plants with these ids, in steps like `countTags`, but only in so many. */
export async function countFoundTags(ids: BigInt64Array, tally: (some: BigInt64Array) => Promise<Tally>): Promise<FoundTags> {
  const counts = new Map<string | null, number>();
  const end = Math.min(ids.length, COUNTED_MAX);
  let at = 0;
  for (let steps = 0; at < end && steps < TALLY_STEPS_MAX; steps += 1) {
    const { tags, checked } = await tally(ids.slice(at, end));
    for (const [tag, plants] of tags) counts.set(tag, (counts.get(tag) ?? 0) + plants);
    at += checked;
  }
  const plants = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const tags = Array.from(counts, ([tag, count]) => ({ tag, plants: count })).filter((count): count is TagCount => count.tag !== null);
  return { plants, precision: at === ids.length ? "exact" : "atLeast", tags: mostFrequent(tags) };
}
