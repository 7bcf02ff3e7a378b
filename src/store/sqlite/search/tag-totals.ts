import type { SearchTerms } from "../../../domain/terms.ts";
import { COUNTED_MAX } from "../../tags.ts";
import { mostFrequent, TAGS_BYTES_MAX, TAGS_MAX } from "../../tags.ts";
import type { FoundTags, TagCount } from "../../tags.ts";
import type { Thread } from "../engine/thread.ts";
import { FIRST_TAG } from "../tags.ts";
import type { TagCursor, TagStep } from "../tags.ts";
import type { Indexer } from "./indexer.ts";

/** Counts tags in steps, so that searches can run in between. */
export async function countTags(thread: Thread<Indexer>): Promise<TagCount[]> {
  let tags: TagCount[] = [];
  let characters = 0;
  let open: TagCount | undefined;
  for (let cursor: TagCursor | undefined = FIRST_TAG; cursor;) {
    const { counts, next }: TagStep = await thread.call("countTags", cursor);
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

type FoundIds = Readonly<{ ids: BigInt64Array; terms: SearchTerms }>;

/** Looks at the plants with these ids, in steps like `countTags`, but only in so many. */
export async function countFoundTags(thread: Thread<Indexer>, { ids, terms }: FoundIds): Promise<FoundTags> {
  const counts = new Map<string | null, number>();
  const end = Math.min(ids.length, COUNTED_MAX);
  let at = 0;
  for (let steps = 0; at < end && steps < TALLY_STEPS_MAX; steps += 1) {
    const { tags, checked } = await thread.call("tally", ids.slice(at, end), terms);
    for (const [tag, plants] of tags) counts.set(tag, (counts.get(tag) ?? 0) + plants);
    at += checked;
  }
  const plants = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const tags = Array.from(counts, ([tag, count]) => ({ tag, plants: count })).filter((count): count is TagCount => count.tag !== null);
  return { plants, precision: at === ids.length ? "exact" : "atLeast", tags: mostFrequent(tags) };
}
