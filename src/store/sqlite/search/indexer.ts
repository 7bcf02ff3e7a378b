import { DatabaseSync } from "node:sqlite";
import { PLANT_ID_MIN } from "../../../domain/plant.ts";
import type { SearchTerms } from "../../../domain/terms.ts";
import { currentThread } from "../../../runtime/thread-priority.ts";
import { prepareBigInts } from "../engine/requirements.ts";
import { isCorrupt } from "../engine/failure.ts";
import { createTally } from "../tags.ts";
import { SearchBehind, toIds } from "./search-behind.ts";
import type { Ids } from "./search-behind.ts";
import { OrderedWalker } from "./ordered-walk.ts";
import type { OrderedWalk, Walked } from "./ordered-walk.ts";
import type { Tally } from "../tags.ts";
import { removeWordIndex } from "./index-file.ts";
import { prepareChangeReads } from "./recorded-changes.ts";
import { WordIndex } from "./word-index.ts";
import type { FindQuery } from "./word-index.ts";
import { fromBefore, NOTHING_INDEXED, TOTAL } from "./changes.ts";
import type { PlantRow } from "./changes.ts";
import type { TagCursor, TagStep } from "./tag-count.ts";

/** "building": the index cannot be asked yet. "indexed": there may be more. "forgot": only what is of no use is left. */
type Did = "building" | "indexed" | "forgot" | "nothing";

/** `held`: what the index holds. `indexed`: what it holds durably, even after a power cut. `built`: how many plants of how many, in a build. */
export type IndexProgress = Readonly<{ did: Did; held: number; indexed: number; built?: Built }>;

export type Built = Readonly<{ plants: number; of: number }>;

/**
 * - `ids`: the ids of plants that matched when they were looked at, in order. `reached`: up to here nothing was left out;
 *   undefined when nothing follows.
 * - `behind`: the index has not reached the changes `upTo` yet. Ask again.
 * - `building`: there is no complete index yet.
 */
export type Found = Ids | NotIndexed;

export type NotIndexed = Readonly<{ kind: "behind" }> | Readonly<{ kind: "building" }>;

/** Like `Found`, for an order. */
export type Placed = (Readonly<{ kind: "places" }> & Walked) | NotIndexed;

/**
 * Work in one index commit, in words: a few thousand plants, or twenty of the worst. A search waits for no more than
 * that.
 *
 * @limit files: words that the indexer takes in one step
 */
const STEP_WORDS = 20_000;

/** How long a stop waits for the index, in milliseconds: usually it is less than a second behind. */
const CLOSE_MS_MAX = 2000;

/** Cost of a plant besides its words, even of a deleted one, in words. */
const WORDS_A_PLANT = 2;

/**
 * Work that takes too long for the main thread: the index of names and tags, and what is found and counted in it. It runs in a Worker. The
 * index has its own file, so that it and the commits never wait for each other. It can be rebuilt from the plants at
 * any time.
 */
export class Indexer {
  readonly #path: string;
  readonly #plants: DatabaseSync;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #recorded: ReturnType<typeof prepareChangeReads>;
  readonly #walker: OrderedWalker;
  readonly #behind: SearchBehind;
  readonly #tally: ReturnType<typeof createTally>;
  #index: WordIndex;
  #synced: number = NOTHING_INDEXED;
  /** How many plants the build has behind it. */
  #built: number | undefined;

  constructor(plantsPath: string) {
    const plants = new DatabaseSync(plantsPath, { readOnly: true });
    this.#path = `${plantsPath}.search`;
    this.#plants = plants;
    this.#sql = prepare(plants);
    this.#recorded = prepareChangeReads(plants);
    this.#walker = new OrderedWalker(plants);
    this.#behind = new SearchBehind(this.#recorded, this.#walker);
    this.#tally = createTally(plants);
    this.#index = new WordIndex(this.#path);
    // The indexed database may have been replaced, for example by a backup.
    const { indexed, mark } = this.#index.state();
    if (mark !== this.#recorded.markOf(indexed)) this.#replaceIndex();
  }

  /** Indexes one step or, when all is indexed, forgets some words. */
  step(): IndexProgress {
    try {
      const did = this.#index.transaction(() => this.#inSnapshot(() => this.#follow()));
      const { indexed: held } = this.#index.state();
      if (this.#index.sync()) this.#synced = held;
      const built = did === "building" ? { plants: this.#built!, of: this.#total() } : undefined;
      return { did, held, indexed: this.#synced, ...(built && { built }) };
    } catch (reason) {
      this.#built = undefined;
      if (!isCorrupt(reason)) throw reason;
      this.#replaceIndex();
      return { did: "indexed", held: NOTHING_INDEXED, indexed: NOTHING_INDEXED };
    }
  }

  /** For `ThreadPriority`. */
  threadId(): number | undefined {
    return currentThread();
  }

  /**
   * Finds what matches after all changes up to `upTo`, by default all that are committed now. `isFirst`: it has not been
   * asked this before, so it may find that without indexing the changes.
   */
  find(query: FindQuery, upTo = this.#recorded.newest(), isFirst = true): Found {
    return this.#ask(
      () => toIds(this.#index.find(query), query.limit),
      upTo,
      (indexed) => (isFirst ? this.#inSnapshot(() => this.#behind.find(this.#index, query, indexed)) : undefined),
    );
  }

  /** How many plants have a tag, or none, up to `max`. */
  countOfTag(tag: string | null, max: number, upTo: number) {
    return this.#ask(() => ({ kind: "count" as const, plants: this.#index.countOfTag(tag, max) }), upTo);
  }

  /** A step of counting all tags. */
  countTags(cursor: TagCursor, upTo: number): (Readonly<{ kind: "tags" }> & TagStep) | NotIndexed {
    return this.#ask(() => ({ kind: "tags", ...this.#index.countTags(cursor) }), upTo);
  }

  /** Places in an order, likewise. */
  order(query: OrderedWalk, upTo = this.#recorded.newest()): Placed {
    return this.#ask(() => ({ kind: "places", ...this.#inSnapshot(() => this.#walker.walk(this.#index, query)) }), upTo);
  }

  /** Counts what matches among these plants, as they are now, from the first on. */
  tally(ids: BigInt64Array, terms: SearchTerms): Tally {
    return this.#inSnapshot(() => this.#tally(ids, terms));
  }

  /** Follows what was committed, but only for so long. Returns what the index holds durably. */
  close(): number {
    const end = performance.now() + CLOSE_MS_MAX;
    try {
      while (performance.now() < end && this.step().did === "indexed");
      const { indexed } = this.#index.state();
      return this.#index.syncAll() ? indexed : this.#synced;
    } finally {
      // A connection that stays open would keep the writer from leaving one file.
      this.#index.close();
      this.#plants.close();
    }
  }

  #total(): number {
    return Number(this.#sql.total.get()!["plants"]);
  }

  #save(indexed: number): void {
    this.#index.save({ indexed, mark: this.#recorded.markOf(indexed) });
  }

  /** Indexes plants as they are now, if they are there. Returns the work done, in words. */
  #indexPlants(ids: BigInt64Array): number {
    let work = ids.length * WORDS_A_PLANT;
    for (let at = 0; at < ids.length;) {
      const first = ids[at]!;
      let last = first;
      // Ids in a row are read at once: that takes half the time.
      for (at += 1; ids[at] === last + 1n; at += 1) last += 1n;
      for (const row of this.#sql.plantsWithin.all(first, last) as PlantRow[]) work += this.#index.put(row);
    }
    return work;
  }

  /** Indexes one step of the plants that are older than the index, from this id on. */
  #build(from: bigint): Did {
    this.#built ??= Number(this.#sql.countBelow.get(from)!["plants"]);
    let work = 0;
    for (const row of this.#sql.plantsFrom.iterate(from) as Iterable<PlantRow>) {
      if (work >= STEP_WORDS) {
        this.#index.save({ buildFrom: row.id });
        return "building";
      }
      work += WORDS_A_PLANT + this.#index.put(row);
      this.#built += 1;
    }
    this.#index.save({ buildFrom: null });
    return "indexed";
  }

  /** Indexes one step of the changes after this one. Returns the last of them. */
  #catchUp(from: number): number {
    let last = from;
    for (let work = 0; work < STEP_WORDS;) {
      const row = this.#sql.change.get(last) as { seq: number; ids: Uint8Array; before: string | null } | undefined;
      if (!row) break;
      for (const before of fromBefore(row.before)) work += this.#index.remove(before);
      work += this.#indexPlants(new BigInt64Array(row.ids.slice().buffer));
      last = row.seq;
    }
    this.#save(last);
    return last;
  }

  /** Does one step. */
  #follow(): Did {
    const { buildFrom, indexed } = this.#index.state();
    if (buildFrom === null) {
      if (indexed < this.#catchUp(indexed)) return "indexed";
      return this.#index.forgetWords() || this.#index.compact(this.#total()) ? "forgot" : "nothing";
    }
    // What changes during the build is indexed again afterwards.
    if (buildFrom === PLANT_ID_MIN) this.#save(this.#recorded.newest());
    return this.#build(buildFrom);
  }

  /** Reads plants in one transaction: a transaction for each read would take longer than the read. */
  #inSnapshot<Result>(work: () => Result): Result {
    this.#plants.exec("BEGIN");
    try {
      return work();
    } finally {
      if (this.#plants.isTransaction) this.#plants.exec("COMMIT");
    }
  }

  /** Replaces a damaged index with an empty one. */
  #replaceIndex(): void {
    this.#index.close();
    removeWordIndex(this.#path);
    this.#index = new WordIndex(this.#path);
    this.#synced = NOTHING_INDEXED;
    this.#built = undefined;
  }

  /** Asks the index once it holds all changes up to `upTo`. Indexes at most one step of them, unless it finds an answer `whileBehind`. */
  #ask<Answer>(
    answer: () => Answer,
    upTo: number,
    whileBehind: (indexed: number) => Answer | undefined = () => undefined,
  ): Answer | NotIndexed {
    try {
      const { buildFrom, indexed } = this.#index.state();
      if (buildFrom !== null) return { kind: "building" };
      if (indexed >= upTo) return answer();
      const early = whileBehind(indexed);
      if (early) return early;
      const held = this.#index.transaction(() => this.#inSnapshot(() => this.#catchUp(indexed)));
      return held < upTo ? { kind: "behind" } : answer();
    } catch (reason) {
      if (!isCorrupt(reason)) throw reason;
      this.#replaceIndex();
      return { kind: "building" };
    }
  }
}

function prepare(plants: DatabaseSync) {
  return {
    plantsWithin: prepareBigInts(plants, "SELECT id, name, tag, added FROM plants WHERE id BETWEEN ? AND ? ORDER BY id"),
    plantsFrom: prepareBigInts(plants, "SELECT id, name, tag, added FROM plants WHERE id >= ? ORDER BY id"),
    countBelow: plants.prepare("SELECT count(*) AS plants FROM plants WHERE id < ?"),
    total: plants.prepare(`SELECT ${TOTAL} AS plants`),
    change: plants.prepare("SELECT seq, ids, before FROM changes WHERE seq > ? ORDER BY seq LIMIT 1"),
  };
}
