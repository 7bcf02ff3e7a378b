import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { PLANT_ID_MIN } from "../../../domain/plant.ts";
import type { SearchTerms } from "../../../domain/terms.ts";
import { prepareBigInts } from "../engine/requirements.ts";
import { isCorrupt } from "../engine/failure.ts";
import { createTagCounter, createTally } from "../tags.ts";
import { OrderedWalker } from "./ordered-walk.ts";
import type { OrderedWalk, Walked } from "./ordered-walk.ts";
import type { Tally } from "../tags.ts";
import { removeWordIndex } from "./index-file.ts";
import type { PlantRow } from "./plant-tokens.ts";
import { prepareChangeReads } from "./recorded-changes.ts";
import { WordIndex } from "./word-index.ts";
import type { FindQuery } from "./word-index.ts";
import { NOTHING_INDEXED } from "./changes.ts";
import type { Position } from "./changes.ts";

/** "building": the index cannot be asked yet. "indexed": there may be more. "forgot": only words of no use are left. */
type Did = "building" | "indexed" | "forgot" | "nothing";

/** `held`: what the index holds. `indexed`: what it holds durably, even after a power cut. */
export type IndexProgress = Readonly<{ did: Did; held: Position; indexed: Position }>;

/**
 * - `ids`: the ids of plants that matched when they were indexed, in order.
 * - `behind`: the index has not reached the changes `upTo` yet. Ask again.
 * - `building`: there is no complete index yet.
 */
export type Found = Readonly<{ kind: "ids"; ids: BigInt64Array }> | NotIndexed;

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

/** Cost of a plant besides its words, even of a deleted one, in words. */
const WORDS_A_PLANT = 2;

/**
 * Work that takes too long for the main thread: the index of names, and the counts of tags. It runs in a Worker. The
 * index has its own file, so that it and the commits never wait for each other. It can be rebuilt from the plants at
 * any time.
 */
export class Indexer {
  readonly #path: string;
  readonly #plants: DatabaseSync;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #recorded: ReturnType<typeof prepareChangeReads>;
  readonly #walker: OrderedWalker;
  readonly #tally: ReturnType<typeof createTally>;
  readonly countTags: ReturnType<typeof createTagCounter>;
  #index: WordIndex;
  #synced = NOTHING_INDEXED;

  constructor(plantsPath: string) {
    const plants = new DatabaseSync(plantsPath, { readOnly: true });
    this.#path = `${plantsPath}.search`;
    this.#plants = plants;
    this.#sql = prepare(plants);
    this.#recorded = prepareChangeReads(plants);
    this.#walker = new OrderedWalker(plants);
    this.#tally = createTally(plants);
    this.countTags = createTagCounter(plants);
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
      return { did, held, indexed: this.#synced };
    } catch (reason) {
      if (!isCorrupt(reason)) throw reason;
      this.#replaceIndex();
      return { did: "indexed", held: NOTHING_INDEXED, indexed: NOTHING_INDEXED };
    }
  }

  /** Searches the index once it holds all changes up to `upTo`, by default all that are committed now. */
  find(query: FindQuery, upTo = this.#recorded.newest()): Found {
    return this.#ask(() => ({ kind: "ids", ids: this.#index.find(query) }), upTo);
  }

  /** Places in an order, likewise. */
  order(query: OrderedWalk, upTo = this.#recorded.newest()): Placed {
    return this.#ask(() => ({ kind: "places", ...this.#inSnapshot(() => this.#walker.walk(this.#index, query)) }), upTo);
  }

  /** Counts what matches among these plants, as they are now, from the first on. */
  tally(ids: BigInt64Array, terms: SearchTerms): Tally {
    return this.#inSnapshot(() => this.#tally(ids, terms));
  }

  close(): void {
    this.#index.close();
    this.#plants.close();
  }

  #save(indexed: Position): void {
    this.#index.save({ indexed, mark: this.#recorded.markOf(indexed) });
  }

  /** Indexes plants as they are now, or removes them from the index. Returns the work done, in words. */
  #indexPlants(ids: BigInt64Array): number {
    const index = this.#index;
    let work = ids.length * WORDS_A_PLANT;
    for (let at = 0; at < ids.length;) {
      let next = ids[at]!;
      let last = next;
      // Ids in a row are read at once: that takes half the time.
      for (at += 1; ids[at] === last + 1n; at += 1) last += 1n;
      for (const row of this.#sql.plantsWithin.all(next, last) as PlantRow[]) {
        for (; next < row.id; next += 1n) index.remove(next);
        work += index.put(row);
        next += 1n;
      }
      for (; next <= last; next += 1n) index.remove(next);
    }
    return work;
  }

  /** Indexes one step of the plants that are older than the index, from this id on. */
  #build(from: bigint): Did {
    let work = 0;
    for (const row of this.#sql.plantsFrom.iterate(from) as Iterable<PlantRow>) {
      if (work >= STEP_WORDS) {
        this.#index.save({ buildFrom: row.id });
        return "building";
      }
      work += WORDS_A_PLANT + this.#index.put(row);
    }
    this.#index.save({ buildFrom: null });
    return "indexed";
  }

  /** Indexes changes after `seq`: at least `wordsMin` words of work, or all there are. Returns the last change. */
  #followFrom(seq: number, next: StatementSync, wordsMin: number): { seq: number; work: number } {
    let at = seq;
    let work = 0;
    while (work < wordsMin) {
      const row = next.get(at) as { seq: number; ids: Uint8Array } | undefined;
      if (!row) break;
      work += this.#indexPlants(new BigInt64Array(row.ids.slice().buffer));
      at = row.seq;
    }
    return { seq: at, work };
  }

  /** Indexes one step of changes. Returns what the index holds then. */
  #catchUp(from: Position): Position {
    const { seq: changes, work } = this.#followFrom(from.changes, this.#sql.change, STEP_WORDS);
    const { seq: bulkChanges } = this.#followFrom(from.bulkChanges, this.#sql.bulkChange, STEP_WORDS - work);
    this.#save({ changes, bulkChanges });
    return { changes, bulkChanges };
  }

  /** Does one step. */
  #follow(): Did {
    const { buildFrom, indexed } = this.#index.state();
    if (buildFrom === null) {
      if (isBefore(indexed, this.#catchUp(indexed))) return "indexed";
      return this.#index.forgetWords() ? "forgot" : "nothing";
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
  }

  /** Asks the index once it holds all changes up to `upTo`. Indexes at most one step of them. */
  #ask<Answer>(answer: () => Answer, upTo: Position): Answer | NotIndexed {
    try {
      const { buildFrom, indexed } = this.#index.state();
      if (buildFrom !== null) return { kind: "building" };
      const isLate = isBefore(indexed, upTo);
      const held = isLate ? this.#index.transaction(() => this.#inSnapshot(() => this.#catchUp(indexed))) : indexed;
      return isBefore(held, upTo) ? { kind: "behind" } : answer();
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
    change: plants.prepare("SELECT seq, ids FROM changes WHERE seq > ? ORDER BY seq LIMIT 1"),
    bulkChange: plants.prepare("SELECT seq, ids FROM bulk_changes WHERE seq > ? ORDER BY seq LIMIT 1"),
  };
}

/** Whether the first holds less than the second. */
function isBefore(one: Position, other: Position): boolean {
  return one.changes < other.changes || one.bulkChanges < other.bulkChanges;
}
