import { PlantStoreError } from "../../../domain/errors.ts";
import type { NewPlant, PlantId } from "../../../domain/plant.ts";
import { asPlantId, PLANT_ID_MIN } from "../../../domain/plant.ts";
import { isFound } from "../../../domain/terms.ts";
import type { SearchTerms } from "../../../domain/terms.ts";
import { COUNTED_MAX, keepCounts } from "../../tags.ts";
import { idBehind, openOrderedPage, openPage } from "../../page.ts";
import type { OrderedPage, Page } from "../../page.ts";
import type { ListQuery, OrderedQuery } from "../../plants.ts";
import type { FoundTags, TagCounts } from "../../tags.ts";
import { endIfSyncFailed, toStoreError, translated } from "../engine/failure.ts";
import type { Position } from "./changes.ts";
import { Follower } from "./follower.ts";
import type { FollowerOptions } from "./follower.ts";
import type { NotIndexed } from "./indexer.ts";
import { countFoundTags, countTags } from "../tags.ts";

type SearcherOptions = FollowerOptions &
  Readonly<{
    find: (ids: readonly PlantId[]) => ReadonlyArray<NewPlant | undefined>;
    /** The newest changes that `find` sees. */
    newest: () => Position;
  }>;

/** How many plants to check before yielding to other requests: the words of the worst name take half a millisecond. */
const CHECKED_PLANTS = 10;

/** @limit reads: duration of a search on SQLite */
const LIST_MS_MAX = 5000;

/**
 * How many plants that match may be put into order, for each time that one page asks for places. Where few have a word,
 * the first call does that; where many match, the first calls find enough in order. If neither is so, more are put into
 * order; if that is too much, the page stays short. Whether few have several words, or a word and a tag, the index cannot
 * tell at once.
 */
const SORTED_MAX = { oneTerm: [1000, 0, 10_000, 0, 0], more: [0, 0, 10_000, 0, 0] } as const;

type Begun = Readonly<{ upTo: Position; deadline: number }>;

/** Finds plants by words and counts tags, on the search thread. Rejects with errors that a caller may see. */
export class Searcher {
  readonly #options: SearcherOptions;
  readonly index: Follower;
  readonly countTags: () => Promise<TagCounts>;

  constructor(options: SearcherOptions) {
    const { thread, newest, now } = options;
    this.#options = options;
    this.index = new Follower(options);
    this.countTags = keepCounts({
      count: () => withStoreErrors(countTags((cursor) => thread.call("countTags", cursor))),
      newestChange: () => translated(newest).changes,
      now,
    });
  }

  async list({ words, tag, after, limit, bytesMax, descending = false }: ListQuery): Promise<Page> {
    const { thread, find, now } = this.#options;
    const page = openPage({ limit, bytesMax });
    const begun = this.#begin();
    // Plants may have changed since they were indexed. If that leaves fewer plants than ids, check further ids.
    for (let from = idBehind({ after, descending }); from !== undefined;) {
      const query = { words, tag, from, descending, limit: limit + 1 };
      const { ids } = await this.#ask((upTo) => thread.call("find", query, upTo), begun);
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
  }

  async countFoundTags(terms: SearchTerms): Promise<FoundTags> {
    const { thread } = this.#options;
    const query = { ...terms, from: PLANT_ID_MIN, limit: COUNTED_MAX + 1 };
    const { ids } = await this.#ask((upTo) => thread.call("find", query, upTo), this.#begin());
    return withStoreErrors(countFoundTags(ids, (some) => thread.call("tally", some, terms)));
  }

  async close(): Promise<void> {
    this.index.close();
    await this.#options.thread.call("close");
  }

  /** What a read that begins now must know, and until when it may wait for that. */
  #begin(): Begun {
    const { newest, now } = this.#options;
    return { upTo: translated(newest), deadline: now() + LIST_MS_MAX };
  }

  /** Asks the index once it holds all that was committed before the read began. */
  async #ask<Answer extends Readonly<{ kind: string }>>(
    call: (upTo: Position) => Promise<Answer | NotIndexed>,
    { upTo, deadline }: Begun,
  ): Promise<Answer> {
    const { now, onFatal } = this.#options;
    for (;;) {
      const answer = await call(upTo).catch((reason: unknown) => {
        endIfSyncFailed(reason, onFatal);
        throw toStoreError(reason);
      });
      if (!isNotIndexed(answer)) return answer;
      if (answer.kind === "building") {
        // A new index may have just replaced a damaged one: have it built.
        this.index.follow();
        throw new PlantStoreError("index_building");
      }
      if (now() > deadline) throw new PlantStoreError("overloaded");
    }
  }
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
