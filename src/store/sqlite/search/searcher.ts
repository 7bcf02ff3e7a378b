import type { Log } from "../../../runtime/log.ts";
import { PlantStoreError } from "../../../domain/errors.ts";
import type { NewPlant, PlantId } from "../../../domain/plant.ts";
import { asPlantId, PLANT_ID_MIN } from "../../../domain/plant.ts";
import { withTimeLimit } from "../../../runtime/time-limit.ts";
import { isFound } from "../../../domain/terms.ts";
import type { SearchTerms } from "../../../domain/terms.ts";
import { COUNTED_MAX } from "../../counts.ts";
import { keepCounts } from "../../tags.ts";
import { idBehind, openOrderedPage, openPage } from "../../page.ts";
import type { OrderedPage } from "../../page.ts";
import type { ListQuery, OrderedQuery } from "../../plants.ts";
import type { Page } from "../../page.ts";
import type { FoundTags, TagCounts } from "../../tags.ts";
import { isSyncFailure, toStoreError, translated } from "../engine/failure.ts";
import type { Indexer, NotIndexed } from "./indexer.ts";
import type { Thread } from "../engine/thread.ts";
import { NOTHING_INDEXED } from "./changes.ts";
import type { Position } from "./changes.ts";
import { countFoundTags, countTags } from "./tag-totals.ts";

/** Finds plants by words and counts tags, on the search thread. Keeps the index up to date with the commits. */
export type Searcher = Readonly<{
  list(query: ListQuery): Promise<Page>;
  listOrdered(query: OrderedQuery): Promise<OrderedPage>;
  countTags(): Promise<TagCounts>;
  countFoundTags(terms: SearchTerms): Promise<FoundTags>;
  /** Reports that a commit changed plants. */
  follow(): void;
  /**
   * Has the index follow up to this change now. Resolves when it holds it or cannot: it is being built, a step failed, or it
   * takes too long.
   */
  reach(change: number): Promise<void>;
  /** What the index holds durably, even after a crash. */
  indexed(): Position;
  /** For how long the index has been behind the commits, in milliseconds. */
  lagMs(): number;
  close(): Promise<void>;
}>;

type SearcherOptions = Readonly<{
  thread: Thread<Indexer>;
  find: (ids: readonly PlantId[]) => ReadonlyArray<NewPlant | undefined>;
  /** The newest changes that `find` sees. */
  newest: () => Position;
  log: Log;
  /** A sync failed: end the process at once. */
  onFatal: (reason: Error) => void;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}>;

/** How long changes collect before they are indexed, in milliseconds: many at once cost less than one by one. */
const GATHER_MS = 250;

/**
 * How long an import may wait for the index after a commit, in milliseconds.
 *
 * @limit files: wait of an import on SQLite for the index, after each commit
 */
const REACH_MS_MAX = 10_000;

/** Pause before a failed step is tried again, in milliseconds. */
const RETRY_MS = 1000;

/** How many plants to check before yielding to other requests: the words of the worst name take half a millisecond. */
const CHECKED_PLANTS = 10;

/**
 * Longest time that a search may take, in milliseconds.
 *
 * @limit reads: duration of a search on SQLite
 */
const LIST_MS_MAX = 5000;

/**
 * How many plants that match may be put into order, for each time that one page asks for places. Where few have a word,
 * the first call does that; where many match, the first calls find enough in order. If neither is so, more are put into
 * order; if that is too much, the page stays short. Whether few have several words, or a word and a tag, the index cannot
 * tell at once.
 */
const SORTED_MAX = { oneTerm: [1000, 0, 10_000, 0, 0], more: [0, 0, 10_000, 0, 0] } as const;

type Begun = Readonly<{ upTo: Position; deadline: number }>;

export function createSearcher({ thread, find, newest, log, onFatal, now }: SearcherOptions): Searcher {
  let indexed: Position = NOTHING_INDEXED;
  /** The newest change that the index is known to hold. */
  let held = 0;
  /** What waits for the index. */
  const reaching = new Set<Readonly<{ change: number; end: () => void }>>();
  let isFollowing = false;
  let isChanged = false;
  let isClosed = false;
  /** When the oldest commit that is not indexed was made. */
  let behindSince: number | undefined;
  /** When the build began that is not done. */
  let buildingSince: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function follow(): void {
    isChanged = true;
    behindSince ??= now();
    if (!isFollowing && !isClosed) timer ??= setTimeout(() => void catchUp(), GATHER_MS).unref();
  }

  async function reach(change: number): Promise<void> {
    if (isClosed || change <= held) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { change, end: resolve };
    reaching.add(waiting);
    if (!isFollowing) {
      clearTimeout(timer);
      void catchUp();
    }
    await withTimeLimit(REACH_MS_MAX, promise, () => {});
    reaching.delete(waiting);
  }

  /** Ends the waits for changes up to this one. */
  function endReaching(upTo: number): void {
    for (const { change, end } of reaching) if (change <= upTo) end();
  }

  function endIfSyncFailed(reason: unknown): void {
    if (isSyncFailure(reason)) onFatal(toStoreError(reason));
  }

  /** Reports a build that takes more than a step: nobody can search meanwhile. */
  function logBuild(isBuilding: boolean, started: number): void {
    if (isBuilding === (buildingSince !== undefined)) return;
    if (isBuilding) log.info("search_building");
    else log.info("search_built", { ms: Math.round(now() - buildingSince!) });
    buildingSince = isBuilding ? started : undefined;
  }

  async function catchUp(): Promise<void> {
    timer = undefined;
    isFollowing = true;
    let pauseMs = GATHER_MS;
    try {
      for (let isLate = true; isLate && !isClosed;) {
        isChanged = false;
        const started = now();
        const { did, ...progress } = await thread.call("step");
        isLate = did !== "nothing";
        indexed = progress.indexed;
        held = progress.held.changes;
        endReaching(did === "building" ? Infinity : held);
        logBuild(did === "building", started);
        if (did === "building" || did === "indexed") behindSince ??= started;
        // What was committed meanwhile may be missing.
        else behindSince = isChanged ? started : undefined;
      }
    } catch (reason) {
      endIfSyncFailed(reason);
      log.warn("search_behind", { reason });
      endReaching(Infinity);
      isChanged = true;
      pauseMs = RETRY_MS;
    }
    isFollowing = false;
    if (isChanged && !isClosed) timer = setTimeout(() => void catchUp(), reaching.size > 0 ? 0 : pauseMs).unref();
  }

  /** What a read that begins now must know, and until when it may wait for that. */
  function begin(): Begun {
    return { upTo: translated(newest), deadline: now() + LIST_MS_MAX };
  }

  /** Asks the index once it holds all that was committed before the read began. */
  async function ask<Answer extends Readonly<{ kind: string }>>(
    call: (upTo: Position) => Promise<Answer | NotIndexed>,
    { upTo, deadline }: Begun,
  ): Promise<Answer> {
    for (;;) {
      const answer = await call(upTo).catch((reason: unknown) => {
        endIfSyncFailed(reason);
        throw toStoreError(reason);
      });
      if (!isNotIndexed(answer)) return answer;
      if (answer.kind === "building") {
        // A new index may have just replaced a damaged one: have it built.
        follow();
        throw new PlantStoreError("index_building");
      }
      if (now() > deadline) throw new PlantStoreError("overloaded");
    }
  }

  // Index what an earlier process left behind.
  void catchUp();

  return {
    follow,
    reach,
    indexed: () => indexed,
    lagMs: () => (behindSince === undefined ? 0 : now() - behindSince),
    async list({ words, tag, after, limit, bytesMax, descending = false }) {
      const page = openPage({ limit, bytesMax });
      const begun = begin();
      // Plants may have changed since they were indexed. If that leaves fewer plants than ids, check further ids.
      for (let from = idBehind({ after, descending }); from !== undefined;) {
        const query = { words, tag, from, descending, limit: limit + 1 };
        const { ids } = await ask((upTo) => thread.call("find", query, upTo), begun);
        for (let at = 0; at < ids.length; at += CHECKED_PLANTS) {
          const found = find(Array.from(ids.subarray(at, at + CHECKED_PLANTS), asPlantId));
          for (const plant of found) if (plant && isFound(plant, { words, tag }) && !page.add(plant)) return page.close();
          await new Promise(setImmediate);
        }
        if (now() > begun.deadline) throw new PlantStoreError("overloaded");
        const last = ids.at(-1);
        if (last === undefined || ids.length <= limit) break;
        from = idBehind({ after: asPlantId(last), descending });
      }
      return page.close();
    },
    async listOrdered({ words, tag, order, after, limit, bytesMax }) {
      const page = openOrderedPage({ limit, bytesMax });
      const seen = new Set<PlantId>();
      const begun = begin();
      let from = after;
      for (const sortedMax of SORTED_MAX[words.length === 1 && tag === undefined ? "oneTerm" : "more"]) {
        const query = { words, tag, order, after: from, limit: limit + 1, sortedMax };
        const { places, reached } = await ask((upTo) => thread.call("order", query, upTo), begun);
        for (let at = 0; at < places.length; at += CHECKED_PLANTS) {
          const some = places.slice(at, at + CHECKED_PLANTS);
          const found = find(some.map(({ id }) => id));
          for (const [next, plant] of found.entries()) {
            // One that was renamed since stays in its place: it has another only in the next answer of the index.
            if (!plant || seen.has(plant.id) || !isFound(plant, { words, tag })) continue;
            seen.add(plant.id);
            if (!page.add(plant, some[next]!)) return page.close(undefined);
          }
          await new Promise(setImmediate);
        }
        from = reached;
        if (reached === undefined) break;
      }
      return page.close(from);
    },
    countTags: keepCounts({ count: () => withStoreErrors(countTags(thread)), newestChange: () => translated(newest).changes, now }),
    async countFoundTags(terms) {
      const query = { ...terms, from: PLANT_ID_MIN, limit: COUNTED_MAX + 1 };
      const { ids } = await ask((upTo) => thread.call("find", query, upTo), begin());
      return withStoreErrors(countFoundTags(thread, { ids, terms }));
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      endReaching(Infinity);
      await thread.call("close");
    },
  };
}

function isNotIndexed(answer: Readonly<{ kind: string }>): answer is NotIndexed {
  return answer.kind === "behind" || answer.kind === "building";
}

async function withStoreErrors<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (thrown) {
    throw toStoreError(thrown);
  }
}
