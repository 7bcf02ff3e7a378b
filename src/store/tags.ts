import { TAGS_MAX } from "./store.ts";
import type { TagCount, TagCounts } from "./store.ts";

/** How old a count of tags may be, in milliseconds. */
const COUNT_FRESH_MS = 5000;

/** The TAGS_MAX most frequent ones, in this order; of those with as many plants, the first in the order of their code units. */
export function mostFrequent(tags: readonly TagCount[]): TagCount[] {
  return tags.toSorted((left, right) => right.plants - left.plants || (left.tag < right.tag ? -1 : 1)).slice(0, TAGS_MAX);
}

/** Counts when somebody asks and the last count is too old; one count serves all who wait for it. */
export function keepCounts(count: () => Promise<readonly TagCount[]>, now: () => number): () => Promise<TagCounts> {
  let counted: Readonly<{ tags: readonly TagCount[]; at: number }> | undefined;
  let counting: Promise<NonNullable<typeof counted>> | undefined;

  async function countAnew(): Promise<NonNullable<typeof counted>> {
    const at = now();
    return { tags: mostFrequent(await count()), at };
  }

  return async () => {
    if (!counted || now() - counted.at > COUNT_FRESH_MS) {
      counting ??= countAnew().finally(() => (counting = undefined));
      counted = await counting;
    }
    return { tags: counted.tags, ageMs: now() - counted.at };
  };
}
