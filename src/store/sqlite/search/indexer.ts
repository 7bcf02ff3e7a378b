import { DatabaseSync } from "node:sqlite";
import type { SearchTerms } from "../../../domain/terms.ts";
import { currentThread } from "../../../runtime/thread-priority.ts";
import { isCorrupt } from "../engine/failure.ts";
import { createTally } from "../tags.ts";
import { LogScanner } from "../log-scan.ts";
import type { OutcomeQuery, PastState, StateQuery, Walk, WalkStep } from "../log-scan.ts";
import { SearchBehind, toIds } from "./search-behind.ts";
import type { Ids } from "./search-behind.ts";
import { OrderedWalker } from "./ordered-walk.ts";
import type { OrderedWalk, Walked } from "./ordered-walk.ts";
import type { Tally } from "../tags.ts";
import { removeWordIndex } from "./index-file.ts";
import { prepareChangeReads } from "./recorded-changes.ts";
import { WordIndex } from "./word-index.ts";
import type { FindQuery } from "./word-index.ts";
import { NOTHING_INDEXED } from "./changes.ts";
import { ErasedError, Intake } from "./intake.ts";
import type { Did } from "./intake.ts";
import type { TagCursor, TagStep } from "./tag-count.ts";

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

/** How long a stop waits for the index, in milliseconds: usually it is less than a second behind. */
const CLOSE_MS_MAX = 2000;

/**
 * Work that takes too long for the main thread: the index of names and tags, and what is found and counted in it. It runs in a Worker. The
 * index has its own file, so that it and the commits never wait for each other. It can be rebuilt from the plants at
 * any time.
 */
export class Indexer {
  readonly #path: string;
  readonly #plants: DatabaseSync;
  readonly #intake: Intake;
  readonly #recorded: ReturnType<typeof prepareChangeReads>;
  readonly #walker: OrderedWalker;
  readonly #behind: SearchBehind;
  readonly #tally: ReturnType<typeof createTally>;
  readonly #log: LogScanner;
  #index: WordIndex;
  #synced: number = NOTHING_INDEXED;

  constructor(plantsPath: string) {
    const plants = new DatabaseSync(plantsPath, { readOnly: true });
    this.#path = `${plantsPath}.search`;
    this.#plants = plants;
    this.#recorded = prepareChangeReads(plants);
    this.#intake = new Intake(plants, this.#recorded);
    this.#walker = new OrderedWalker(plants);
    this.#behind = new SearchBehind(this.#recorded, this.#walker);
    this.#tally = createTally(plants);
    this.#log = new LogScanner(plants);
    this.#index = new WordIndex(this.#path);
    // The indexed database may have been replaced, for example by a backup.
    const { indexed, mark } = this.#index.state();
    if (mark !== this.#recorded.markOf(indexed)) this.#replaceIndex();
  }

  /** Indexes one step or, when all is indexed, forgets some words. */
  step(): IndexProgress {
    try {
      const did = this.#index.transaction(() => this.#inSnapshot(() => this.#intake.step(this.#index)));
      const { indexed: held } = this.#index.state();
      if (this.#index.sync()) this.#synced = held;
      return { did, held, indexed: this.#synced, ...(did === "building" && { built: this.#intake.built() }) };
    } catch (reason) {
      this.#intake.reset();
      if (!isUseless(reason)) throw reason;
      this.#replaceIndex();
      return { did: "indexed", held: NOTHING_INDEXED, indexed: NOTHING_INDEXED };
    }
  }

  /** Brings all that the index holds to the disk. Returns the newest change of that. */
  sync(): number {
    const { indexed } = this.#index.state();
    if (this.#index.sync(0)) this.#synced = indexed;
    return this.#synced;
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

  /** Looks at some of the log, the newest first. */
  walkLog(walk: Walk): WalkStep {
    return this.#inSnapshot(() => this.#log.walk(walk));
  }

  /** Looks at some of the log for what a plant was. */
  findState(query: StateQuery): PastState | StateQuery {
    return this.#inSnapshot(() => this.#log.findState(query));
  }

  /** The same for plants behind changes of an import. */
  findStates(query: OutcomeQuery): readonly PastState[] | undefined {
    return this.#inSnapshot(() => this.#log.findStates(query));
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
    this.#intake.reset();
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
      const held = this.#index.transaction(() => this.#inSnapshot(() => this.#intake.catchUp(this.#index, indexed)));
      return held < upTo ? { kind: "behind" } : answer();
    } catch (reason) {
      if (!isUseless(reason)) throw reason;
      this.#replaceIndex();
      return { kind: "building" };
    }
  }
}

/** Whether only a new index can help. */
function isUseless(reason: unknown): boolean {
  return isCorrupt(reason) || reason instanceof ErasedError;
}
