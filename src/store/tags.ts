import { PlantStoreError } from "../domain/errors.ts";
import { withTimeLimit } from "../runtime/time-limit.ts";
import { coalesceReads } from "./coalesced-reads.ts";

/** "exact": all were counted. "about": rounded, from statistics. "atLeast": counting ended early, at COUNTED_MAX at the latest. */
export type PlantCount = Readonly<{ plants: number; precision: "exact" | "about" | "atLeast" }>;

/** How many of the plants that match are counted: the work for one call is the same in a large store. */
export const COUNTED_MAX = 10_000;

/** The count of what was found when at most one more than `max` was looked for. */
export function toCount(found: number, max = COUNTED_MAX): PlantCount {
  return found > max ? { plants: max, precision: "atLeast" } : { plants: found, precision: "exact" };
}

/** How many plants have a tag. */
export type TagCount = Readonly<{ tag: string; plants: number }>;

/** The tags with the most plants, as many as a list may have. `ageMs`: how old the count is, in milliseconds: later changes may be missing. 0 if none is. */
export type TagCounts = Readonly<{ tags: readonly TagCount[]; ageMs: number }>;

/** The tags of the plants that match, as many as a list may have. All that were counted, also those without a tag, are `plants`. */
export type FoundTags = PlantCount & Readonly<{ tags: readonly TagCount[] }>;

/** @limit reads: tags of a list */
export const TAGS_MAX = 1000;

/** A list ends with the tag that reaches so many bytes, as a page ends with such a plant. */
export const TAGS_BYTES_MAX = 2 ** 20;

/**
 * A count that takes longer than this is not made for each caller, in milliseconds: with the one under way, a caller would
 * wait for longer than WAIT_MS_MAX. It is kept for a multiple of the time that it took.
 *
 * @limit reads: duration of a count of all tags that is no longer made for each request
 */
const EXPENSIVE_MS = 2000;
const KEPT_TIMES = 5;

/**
 * How long a caller waits for a count, in milliseconds. The count then goes on without it.
 *
 * @limit reads: wait of a request for such a count
 */
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

type Counted = Readonly<{ tags: readonly TagCount[]; at: number; tookMs: number; change: number | undefined }>;

type CountOptions = Readonly<{
  count: () => Promise<readonly TagCount[]>;
  /** The newest change of a plant, if the store knows of each: a count is kept until the next one. */
  newestChange?: () => number;
  now: () => number;
}>;

/**
 * Counts on demand, with all that was changed before the call. One count serves all callers that wait when it begins.
 * Where a count is expensive, or has not come in time, a caller may get an older one, whose age says so, or `overloaded`
 * without one.
 */
export function keepCounts({ count, newestChange, now }: CountOptions): () => Promise<TagCounts> {
  let counted: Counted | undefined;

  const recount = coalesceReads<undefined, Counted>({
    async readAll(callers) {
      const at = now();
      const change = newestChange?.();
      const tags = mostFrequent(await count());
      const latest = (counted = { tags, at, change, tookMs: now() - at });
      return callers.map(() => latest);
    },
    inFlightMax: 1,
  });

  function lastOrRefuse(): Counted {
    if (!counted) throw new PlantStoreError("overloaded");
    return counted;
  }

  return async () => {
    const last = counted;
    if (last?.change !== undefined && last.change === newestChange?.()) return { tags: last.tags, ageMs: 0 };
    const asked = now();
    const isKept = last && last.tookMs > EXPENSIVE_MS && asked - last.at < KEPT_TIMES * last.tookMs;
    const { tags, at } = isKept ? last : await withTimeLimit(WAIT_MS_MAX, recount(undefined), lastOrRefuse);
    return { tags, ageMs: Math.max(0, asked - at) };
  };
}
