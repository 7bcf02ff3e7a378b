import { PlantStoreError } from "../errors.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { PlantCount } from "./counts.ts";

/** How many plants have a tag. */
export type TagCount = Readonly<{ tag: string; plants: number }>;

/** The tags with the most plants, as many as a list may have, and how long ago they were counted, in milliseconds. */
export type TagCounts = Readonly<{ tags: readonly TagCount[]; ageMs: number }>;

/** The tags of the plants that match, as many as a list may have. All that were counted, also those without a tag, are `plants`. */
export type FoundTags = PlantCount & Readonly<{ tags: readonly TagCount[] }>;

export const TAGS_MAX = 1000;

/** A list ends with the tag that reaches so many bytes, as a page ends with such a plant. */
export const TAGS_BYTES_MAX = 2 ** 20;

/**
 * How old a count may be, in milliseconds: a minimum, and a multiple of the time that the count took. The counts of a
 * small catalogue are fresh; a large catalogue is counted seldom.
 */
const FRESH_MS_MIN = 100;
const FRESH_MS = 5000;
const QUICK_TIMES = 20;
const SLOW_TIMES = 5;

/** How long a caller waits for a count, in milliseconds. The count then goes on without it. */
const WAIT_MS_MAX = 5000;

/** The characters by which texts have another order as code units than as code points: an emoji is before U+E000 then. */
const UNLIKE_UNITS = /[\ud800-\uffff]/;

/** The most frequent tags, by number of plants, then by code points, as databases sort: as many as a list may have. */
export function mostFrequent(tags: readonly TagCount[]): TagCount[] {
  // The language compares code units, twice as fast, and a count must not hold up other requests.
  const compare = tags.some(({ tag }) => UNLIKE_UNITS.test(tag)) ? compareCodePoints : compareUnits;
  const sorted = tags.toSorted((left, right) => right.plants - left.plants || compare(left.tag, right.tag)).slice(0, TAGS_MAX);
  let bytes = 0;
  const last = sorted.findIndex(({ tag }) => (bytes += Buffer.byteLength(tag)) >= TAGS_BYTES_MAX);
  return last === -1 ? sorted : sorted.slice(0, last + 1);
}

function compareUnits(left: string, right: string): number {
  return left < right ? -1 : 1;
}

function compareCodePoints(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  for (let at = 0; at < end; at += 1)
    if (left.charCodeAt(at) !== right.charCodeAt(at)) return left.codePointAt(at)! - right.codePointAt(at)!;
  return left.length - right.length;
}

type Counted = Readonly<{ tags: readonly TagCount[]; at: number; tookMs: number }>;

/**
 * Counts on demand, when the last count is too old. One count serves all callers that wait for it. A caller that waits
 * too long gets the last count, or `overloaded` without one.
 */
export function keepCounts(count: () => Promise<readonly TagCount[]>, now: () => number): () => Promise<TagCounts> {
  let counted: Counted | undefined;
  let counting: Promise<Counted> | undefined;

  async function recount(): Promise<Counted> {
    const at = now();
    try {
      const tags = mostFrequent(await count());
      return (counted = { tags, at, tookMs: now() - at });
    } finally {
      counting = undefined;
    }
  }

  function isFresh({ at, tookMs }: Counted): boolean {
    return now() - at < Math.max(SLOW_TIMES * tookMs, Math.min(FRESH_MS, FRESH_MS_MIN + QUICK_TIMES * tookMs));
  }

  return async () => {
    const last = counted;
    function lastOrRefuse(): Counted {
      if (!last) throw new PlantStoreError("overloaded");
      return last;
    }
    const { tags, at } = last && isFresh(last) ? last : await withTimeLimit(WAIT_MS_MAX, (counting ??= recount()), lastOrRefuse);
    return { tags, ageMs: now() - at };
  };
}
