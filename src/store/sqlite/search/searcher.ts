import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../../domain/errors.ts";
import type { NewPlant, PlantId } from "../../../domain/plant.ts";
import { asPlantId, PLANT_ID_MIN } from "../../../domain/plant.ts";
import { isFound } from "../../../domain/terms.ts";
import type { SearchTerms } from "../../../domain/terms.ts";
import { COUNTED_MAX, keepCounts, toCount } from "../../tags.ts";
import { idBehind, openOrderedPage, openPage } from "../../page.ts";
import type { OrderedPage, Page } from "../../page.ts";
import type { ListQuery, OrderedQuery } from "../../plants.ts";
import type { FoundTags, PlantCount, TagCount, TagCounts } from "../../tags.ts";
import { endIfSyncFailed, toStoreError, translated } from "../engine/failure.ts";
import { Follower } from "./follower.ts";
import type { FollowerOptions } from "./follower.ts";
import type { Thread } from "../engine/thread.ts";
import type { Indexer, NotIndexed } from "./indexer.ts";
import type { Ids } from "./search-behind.ts";
import type { FindQuery } from "./word-index.ts";
import { countFoundTags, countTags } from "../tags.ts";

type SearcherOptions = FollowerOptions &
  Readonly<{
    find: (ids: readonly PlantId[]) => ReadonlyArray<NewPlant | undefined>;
    /** The newest changes that `find` sees. */
    newest: () => number;
  }>;

/**
 * How many plants to check before yielding to other requests: the words of the worst name take half a millisecond, a tag
 * takes no time.
 */
const CHECKED_PLANTS = { withWords: 10, ofTag: 200 } as const;

/** How long a read waits for an index that is being built, in milliseconds: that of a small store is there by then. */
const BRIEF_BUILD_MS = 1000;
const BUILD_PAUSE_MS = 10;

/** @limit reads: duration of a search on SQLite */
const LIST_MS_MAX = 5000;

/**
 * How many plants that match may be put into order, for each time that one page asks for places. Where few have a word,
 * the first call does that; where many match, the first calls find enough in order. If neither is so, more are put into
 * order; if that is too much, the page stays short. Whether few have several words, or a word and a tag, the index cannot
 * tell at once.
 */
const SORTED_MAX = { oneTerm: [1000, 0, 10_000, 0, 0], more: [0, 0, 10_000, 0, 0] } as const;

/** A read. `isFirst`: it has not asked yet. */
type Begun = Readonly<{ upTo: number; deadline: number }> & { isFirst: boolean };

/** Finds plants by words and counts tags, on the search thread. Rejects with errors that a caller may see. */
export class Searcher {
  readonly #options: SearcherOptions;
  readonly index: Follower;
  readonly countTags: () => Promise<TagCounts>;

  constructor(options: SearcherOptions) {
    const { newest, now } = options;
    this.#options = options;
    this.index = new Follower(options);
    this.countTags = keepCounts({
      count: () => this.#countTags(),
      newestChange: () => translated(newest),
      now,
    });
  }

  async list({ words, tag, after, limit, bytesMax, descending = false, isBrief = false }: ListQuery): Promise<Page> {
    const { thread, find, now } = this.#options;
    const page = openPage({ limit, bytesMax });
    const begun = this.#begin();
    const step = words.length > 0 ? CHECKED_PLANTS.withWords : CHECKED_PLANTS.ofTag;
    // Plants may have changed since they were found. If that leaves fewer plants than ids, check further ids.
    for (let from = idBehind({ after, descending }); from !== undefined;) {
      const query = { words, tag, from, descending, limit: limit + 1 };
      const { ids, reached } = await this.#ask((upTo, isFirst) => thread.call("find", query, upTo, isFirst), begun);
      for (let at = 0; at < ids.length; at += step) {
        const found = find(Array.from(ids.subarray(at, at + step), asPlantId));
        for (const plant of found) if (plant && isFound(plant, { words, tag }) && !page.add(plant)) return page.close();
        await new Promise(setImmediate);
      }
      if (reached === undefined || isBrief) break;
      if (now() > begun.deadline) throw new PlantStoreError("overloaded");
      from = idBehind({ after: asPlantId(reached), descending });
    }
    return page.close();
  }

  async listOrdered({ words, tag, order, after, limit, bytesMax }: OrderedQuery): Promise<OrderedPage> {
    const { thread, find } = this.#options;
    const page = openOrderedPage({ limit, bytesMax });
    const seen = new Set<PlantId>();
    const begun = this.#begin();
    let from = after;
    for (const sortedMax of SORTED_MAX[words.length === 1 && tag === undefined ? "oneTerm" : "more"]) {
      const query = { words, tag, order, after: from, limit: limit + 1, sortedMax };
      const { places, reached } = await this.#ask((upTo) => thread.call("order", query, upTo), begun);
      for (let at = 0; at < places.length; at += CHECKED_PLANTS.withWords) {
        const some = places.slice(at, at + CHECKED_PLANTS.withWords);
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
  }

  async count(terms: SearchTerms): Promise<PlantCount> {
    const { tag } = terms;
    if (terms.words.length > 0 || tag === undefined) {
      const { plants, precision } = await this.countFoundTags(terms);
      return { plants, precision };
    }
    const { thread } = this.#options;
    const { plants } = await this.#ask((upTo) => thread.call("countOfTag", tag, COUNTED_MAX + 1, upTo), this.#begin());
    return toCount(plants);
  }

  async countFoundTags(terms: SearchTerms): Promise<FoundTags> {
    return this.whileHurried(async (thread) => {
      const ids = BigInt64Array.from(await this.#findAll(terms));
      return countFoundTags(ids, (some) => thread.call("tally", some, terms));
    });
  }

  /** Has the thread do work in short calls, between which searches run. */
  async whileHurried<Result>(work: (thread: Thread<Indexer>) => Promise<Result>): Promise<Result> {
    const release = this.index.hurry();
    try {
      return await work(this.#options.thread);
    } catch (thrown) {
      throw toStoreError(thrown);
    } finally {
      release();
    }
  }

  /** Resolves with what the index holds durably. */
  async close(): Promise<number> {
    const { thread, log, onFatal } = this.#options;
    this.index.close();
    try {
      return await thread.call("close");
    } catch (reason) {
      endIfSyncFailed(reason, onFatal);
      log.warn("search_behind", { reason });
      return this.index.indexed();
    }
  }

  /** The ids of all that match, if they are no more than are counted; otherwise of one more. */
  async #findAll(terms: SearchTerms): Promise<bigint[]> {
    const { thread } = this.#options;
    const found: bigint[] = [];
    const begun = this.#begin();
    for (let from: PlantId | undefined = PLANT_ID_MIN; from !== undefined && found.length <= COUNTED_MAX;) {
      const query: FindQuery = { ...terms, from, limit: COUNTED_MAX + 1 };
      const { ids, reached }: Ids = await this.#ask((upTo, isFirst) => thread.call("find", query, upTo, isFirst), begun);
      for (const id of ids) found.push(id);
      from = reached === undefined ? undefined : idBehind({ after: asPlantId(reached) });
    }
    return found;
  }

  #countTags(): Promise<readonly TagCount[]> {
    const begun = this.#begin();
    return countTags((cursor) => this.#ask((upTo) => this.#options.thread.call("countTags", cursor, upTo), begun));
  }

  /** What a read that begins now must know, and until when it may wait for that. */
  #begin(): Begun {
    const { newest, now } = this.#options;
    return { upTo: translated(newest), deadline: now() + LIST_MS_MAX, isFirst: true };
  }

  /** Asks the index once it holds all that was committed before the read began. */
  async #ask<Answer extends Readonly<{ kind: string }>>(
    call: (upTo: number, isFirst: boolean) => Promise<Answer | NotIndexed>,
    begun: Begun,
  ): Promise<Answer> {
    const { now, onFatal } = this.#options;
    const release = this.index.hurry();
    try {
      for (;;) {
        const answer = await call(begun.upTo, begun.isFirst);
        begun.isFirst = false;
        if (!isNotIndexed(answer)) return answer;
        if (answer.kind === "building") await this.#waitForBuild();
        if (now() > begun.deadline) throw new PlantStoreError("overloaded");
      }
    } catch (reason) {
      endIfSyncFailed(reason, onFatal);
      throw toStoreError(reason);
    } finally {
      release();
    }
  }

  /** A new index may have just replaced a damaged one: has it built. Rejects if that takes long. */
  async #waitForBuild(): Promise<void> {
    this.index.follow();
    if (this.index.buildingMs() > BRIEF_BUILD_MS) throw new PlantStoreError("index_building");
    await sleep(BUILD_PAUSE_MS);
  }
}

function isNotIndexed(answer: Readonly<{ kind: string }>): answer is NotIndexed {
  return answer.kind === "behind" || answer.kind === "building";
}
