import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../../log.ts";
import { PlantStoreError } from "../../../errors.ts";
import type { NewPlant, PlantId } from "../../../plant.ts";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../../plant.ts";
import { isFound } from "../../../tokenizer.ts";
import { TAGS_MAX, keepCounts, mostFrequent } from "../../tags.ts";
import { openPage } from "../../page.ts";
import type { ListQuery } from "../../plants.ts";
import type { Page } from "../../page.ts";
import type { TagCount, TagCounts } from "../../tags.ts";
import { isSyncFailure, toStoreError } from "../engine/failure.ts";
import type { Found, Indexer } from "./indexer.ts";
import { FIRST_TAG } from "../tags.ts";
import type { TagCursor, TagStep } from "../tags.ts";
import type { Thread } from "../engine/thread.ts";
import type { FindQuery } from "./word-index.ts";
import { NOTHING_INDEXED } from "./changes.ts";
import type { Position } from "./changes.ts";

/** Finds plants by words and counts tags, on the search thread. Keeps the index up to date with the commits. */
export type Searcher = Readonly<{
  list(query: ListQuery): Promise<Page>;
  countTags(): Promise<TagCounts>;
  /** Reports that a commit changed plants; `isBulk` when it was part of an import. */
  follow(isBulk: boolean): void;
  /** What the index holds durably, even after a crash. */
  indexed(): Position;
  close(): Promise<void>;
}>;

type SearcherOptions = Readonly<{
  thread: Thread<Indexer>;
  find: (ids: readonly PlantId[]) => ReadonlyArray<NewPlant | undefined>;
  log: Log;
  /** A sync failed: end the process at once. */
  onFatal: (reason: Error) => void;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}>;

/** How long changes collect before they are indexed, in milliseconds: many at once cost less than one by one. */
const GATHER_MS = 250;

/** Pause before a failed step is tried again, in milliseconds. */
const RETRY_MS = 1000;

/** How many plants to check before yielding to other requests: the words of the worst name take half a millisecond. */
const CHECKED_PLANTS = 10;

/** Longest time that a search may take, in milliseconds. */
const LIST_MS_MAX = 5000;

export function createSearcher({ thread, find, log, onFatal, now }: SearcherOptions): Searcher {
  let indexed: Position = NOTHING_INDEXED;
  let lastBulk = -Infinity;
  let isFollowing = false;
  let isChanged = false;
  let isClosed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function follow(isBulk: boolean): void {
    isChanged = true;
    if (isBulk) lastBulk = now();
    if (!isFollowing && !isClosed) timer ??= setTimeout(() => void catchUp(), GATHER_MS).unref();
  }

  function endIfSyncFailed(reason: unknown): void {
    if (isSyncFailure(reason)) onFatal(toStoreError(reason));
  }

  async function catchUp(): Promise<void> {
    timer = undefined;
    isFollowing = true;
    isChanged = false;
    let pauseMs = GATHER_MS;
    try {
      for (let isBehind = true; isBehind && !isClosed;) {
        const progress = await thread.call("step");
        isBehind = progress.isBehind;
        indexed = progress.indexed;
        // A running import needs the processor more than its index does.
        if (isBehind && now() - lastBulk < GATHER_MS) await sleep(GATHER_MS, undefined, { ref: false });
      }
    } catch (reason) {
      endIfSyncFailed(reason);
      log.warn("search_behind", { reason });
      isChanged = true;
      pauseMs = RETRY_MS;
    }
    isFollowing = false;
    if (isChanged && !isClosed) timer = setTimeout(() => void catchUp(), pauseMs).unref();
  }

  async function callSearch(query: FindQuery, upTo: number | undefined): Promise<Found> {
    try {
      return await thread.call("find", query, upTo);
    } catch (reason) {
      endIfSyncFailed(reason);
      throw toStoreError(reason);
    }
  }

  /** Ids from the index, once it holds all that was committed before the call. */
  async function findIds(query: FindQuery, deadline: number): Promise<BigInt64Array> {
    for (let upTo: number | undefined; ;) {
      const found = await callSearch(query, upTo);
      if (found.kind === "ids") return found.ids;
      if (found.kind === "building") {
        // A new index may have just replaced a damaged one: have it built.
        follow(false);
        throw new PlantStoreError("index_building");
      }
      if (now() > deadline) throw new PlantStoreError("overloaded");
      ({ upTo } = found);
    }
  }

  // Index what an earlier process left behind.
  void catchUp();

  return {
    follow,
    indexed: () => indexed,
    async list({ words, tag, after, limit, bytesMax }) {
      const page = openPage({ limit, bytesMax });
      const deadline = now() + LIST_MS_MAX;
      let from = after === undefined ? PLANT_ID_MIN : after + 1n;
      // Plants may have changed since they were indexed. If that leaves fewer plants than ids, check further ids.
      while (from <= PLANT_ID_MAX) {
        const ids = await findIds({ words, tag, from, limit: limit + 1 }, deadline);
        for (let at = 0; at < ids.length; at += CHECKED_PLANTS) {
          const found = find(Array.from(ids.subarray(at, at + CHECKED_PLANTS), asPlantId));
          for (const plant of found) if (plant && isFound(plant, { words, tag }) && !page.add(plant)) return page.close();
          await new Promise(setImmediate);
        }
        if (now() > deadline) throw new PlantStoreError("overloaded");
        const last = ids.at(-1);
        if (last === undefined || ids.length <= limit) break;
        from = last + 1n;
      }
      return page.close();
    },
    countTags: keepCounts(() => withStoreErrors(countTags(thread)), now),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await thread.call("close");
    },
  };
}

/** Counts tags in steps, so that searches can run in between. */
async function countTags(thread: Thread<Indexer>): Promise<TagCount[]> {
  let tags: TagCount[] = [];
  let open: TagCount | undefined;
  for (let cursor: TagCursor | undefined = FIRST_TAG; cursor;) {
    const { counts, next }: TagStep = await thread.call("countTags", cursor);
    for (const { tag, plants } of counts) {
      // A step may end in the middle of its last tag.
      if (open?.tag === tag) open = { tag, plants: open.plants + plants };
      else {
        if (open) tags.push(open);
        open = { tag, plants };
      }
    }
    if (tags.length > 10 * TAGS_MAX) tags = mostFrequent(tags);
    cursor = next;
  }
  return open ? [...tags, open] : tags;
}

async function withStoreErrors<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (thrown) {
    throw toStoreError(thrown);
  }
}
