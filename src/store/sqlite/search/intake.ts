import type { DatabaseSync } from "node:sqlite";
import { PLANT_ID_MIN } from "../../../domain/plant.ts";
import { prepareBigInts } from "../engine/requirements.ts";
import { fromBefore, fromIds } from "../log-row.ts";
import type { LogRow, PlantRow } from "../log-row.ts";
import { TOTAL } from "./changes.ts";
import type { prepareChangeReads } from "./recorded-changes.ts";
import type { WordIndex } from "./word-index.ts";

/** "building": the index cannot be asked yet. "indexed": there may be more. "forgot": only what is of no use is left. */
export type Did = "building" | "indexed" | "forgot" | "nothing";

/**
 * Work in one index commit, in words: a few thousand plants, or twenty of the worst. A search waits for no more than
 * that.
 *
 * @limit files: words that the indexer takes in one step
 */
const STEP_WORDS = 20_000;

/** Cost of a plant besides its words, even of a deleted one, in words. */
const WORDS_A_PLANT = 2;

/** What the index would have to forget was erased since: it is an older copy. */
export class ErasedError extends Error {}

/** What an index takes in, in steps: first the plants that are there, then the changes. */
export class Intake {
  readonly #sql: ReturnType<typeof prepare>;
  readonly #recorded: ReturnType<typeof prepareChangeReads>;
  /** How many plants the build has behind it. */
  #built: number | undefined;

  constructor(plants: DatabaseSync, recorded: ReturnType<typeof prepareChangeReads>) {
    this.#sql = prepare(plants);
    this.#recorded = recorded;
  }

  /** Does one step. */
  step(index: WordIndex): Did {
    const { buildFrom, indexed } = index.state();
    if (buildFrom === null) {
      if (indexed < this.catchUp(index, indexed)) return "indexed";
      return index.forgetWords() || index.compact(this.#total()) ? "forgot" : "nothing";
    }
    // What changes during the build is indexed again afterwards.
    if (buildFrom === PLANT_ID_MIN) this.#save(index, this.#recorded.newest());
    return this.#build(index, buildFrom);
  }

  /** Indexes one step of the changes after this one. Returns the last of them. */
  catchUp(index: WordIndex, from: number): number {
    let last = from;
    for (let work = 0; work < STEP_WORDS;) {
      const row = this.#sql.change.get(last) as (Pick<LogRow, "ids" | "kinds" | "before"> & { seq: number }) | undefined;
      if (!row) break;
      for (const before of fromBefore(row)) {
        if (!before) throw new ErasedError();
        work += index.remove(before);
      }
      work += this.#indexPlants(index, fromIds(row.ids));
      last = row.seq;
    }
    this.#save(index, last);
    return last;
  }

  /** How far the build is. */
  built(): Readonly<{ plants: number; of: number }> {
    return { plants: this.#built ?? 0, of: this.#total() };
  }

  /** Begins again, with an empty index. */
  reset(): void {
    this.#built = undefined;
  }

  #total(): number {
    return Number(this.#sql.total.get()!["plants"]);
  }

  #save(index: WordIndex, indexed: number): void {
    index.save({ indexed, mark: this.#recorded.markOf(indexed) });
  }

  /** Indexes plants as they are now, if they are there. Returns the work done, in words. */
  #indexPlants(index: WordIndex, ids: BigInt64Array): number {
    let work = ids.length * WORDS_A_PLANT;
    for (let at = 0; at < ids.length;) {
      const first = ids[at]!;
      let last = first;
      // Ids in a row are read at once: that takes half the time.
      for (at += 1; ids[at] === last + 1n; at += 1) last += 1n;
      for (const row of this.#sql.plantsWithin.all(first, last) as PlantRow[]) work += index.put(row);
    }
    return work;
  }

  /** Indexes one step of the plants that are older than the index, from this id on. */
  #build(index: WordIndex, from: bigint): Did {
    this.#built ??= Number(this.#sql.countBelow.get(from)!["plants"]);
    let work = 0;
    for (const row of this.#sql.plantsFrom.iterate(from) as Iterable<PlantRow>) {
      if (work >= STEP_WORDS) {
        index.save({ buildFrom: row.id });
        return "building";
      }
      work += WORDS_A_PLANT + index.put(row);
      this.#built += 1;
    }
    index.save({ buildFrom: null });
    return "indexed";
  }
}

function prepare(plants: DatabaseSync) {
  return {
    plantsWithin: prepareBigInts(plants, "SELECT id, name, tag, added FROM plants WHERE id BETWEEN ? AND ? ORDER BY id"),
    plantsFrom: prepareBigInts(plants, "SELECT id, name, tag, added FROM plants WHERE id >= ? ORDER BY id"),
    countBelow: plants.prepare("SELECT count(*) AS plants FROM plants WHERE id < ?"),
    total: plants.prepare(`SELECT ${TOTAL} AS plants`),
    change: plants.prepare("SELECT seq, ids, kinds, before FROM changes WHERE seq > ? ORDER BY seq LIMIT 1"),
  };
}
