import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { hash } from "node:crypto";
import { PLANT_ID_MIN } from "../../../plant.ts";
import type { PlantId } from "../../../plant.ts";
import { createTagCounter } from "../tags.ts";
import { isDamage, openWordIndex, removeWordIndex } from "./word-index.ts";
import type { FindQuery, PlantRow } from "./word-index.ts";
import { NOTHING_SEEN } from "./changes.ts";
import type { Seen } from "./changes.ts";

/** `isBehind`: another step is needed. `seen`: what the index holds for good, also after a power cut. */
export type Progress = Readonly<{ isBehind: boolean; seen: Seen }>;

/**
 * Ids that were found when they were indexed, in their order; or `behind`, when the index has still to come up to a change: ask again with it; or
 * `building`, as long as there is no whole index.
 */
export type Found =
  | Readonly<{ kind: "ids"; ids: BigInt64Array }>
  | Readonly<{ kind: "behind"; upTo: number }>
  | Readonly<{ kind: "building" }>;

/**
 * What takes too long for the main thread: the index of names, and the count of tags. It lives in a Worker. The index is a file of its
 * own, so that it neither waits for the commits nor they for it; it can be made anew from the plants at any time.
 */
export type Indexer = ReturnType<typeof openIndexer>;

/** How much is indexed in one commit, in words: some thousand plants, or twenty of the worst. Searches wait for no more than that. */
const STEP_WORDS = 20_000;

/** How many words cost as much as a plant itself, also one that has been deleted. */
const WORDS_A_PLANT = 2;

export function openIndexer(plantsPath: string) {
  const path = `${plantsPath}.search`;
  const plants = new DatabaseSync(plantsPath, { readOnly: true });
  const plant = plants.prepare("SELECT name, tag FROM plants WHERE id = ?");
  const plantsFrom = plants.prepare("SELECT id, name, tag FROM plants WHERE id >= ? ORDER BY id");
  plantsFrom.setReadBigInts(true);
  const change = plants.prepare("SELECT seq, ids FROM changes WHERE seq > ? ORDER BY seq LIMIT 1");
  const bulkChange = plants.prepare("SELECT seq, ids FROM bulk_changes WHERE seq > ? ORDER BY seq LIMIT 1");
  const newest = plants.prepare(
    "SELECT (SELECT coalesce(max(seq), 0) FROM changes) AS changes, (SELECT coalesce(max(seq), 0) FROM bulk_changes) AS bulkChanges",
  );
  const changeAt = plants.prepare("SELECT ids FROM changes WHERE seq = ?");
  const bulkChangeAt = plants.prepare("SELECT ids FROM bulk_changes WHERE seq = ?");
  let index = openWordIndex(path);
  let synced = NOTHING_SEEN;

  /** Tells one history of changes from another: what the newest seen ones changed. They are never forgotten. */
  function markOf({ changes, bulkChanges }: Seen): string {
    const rows = [changeAt.get(changes), bulkChangeAt.get(bulkChanges)] as ({ ids: Uint8Array } | undefined)[];
    return rows.map((row) => (row ? hash("sha256", row.ids, "hex") : "none")).join(" ");
  }

  function save(seen: Seen): void {
    index.save({ seen, mark: markOf(seen) });
  }

  /** Puts a plant as it is now into the index, or takes it out. Returns how much work that was, in words. */
  function take(id: bigint): number {
    const row = plant.get(id) as PlantRow | undefined;
    if (row) return WORDS_A_PLANT + index.put(id, row);
    index.remove(id);
    return WORDS_A_PLANT;
  }

  /** Indexes the plants that were there before the index was, from this id on: a step of them. */
  function build(from: bigint): void {
    let work = 0;
    for (const row of plantsFrom.iterate(from) as Iterable<PlantRow & { id: PlantId }>) {
      if (work >= STEP_WORDS) return index.save({ buildFrom: row.id });
      work += WORDS_A_PLANT + index.put(row.id, row);
    }
    index.save({ buildFrom: null });
  }

  /** Indexes what has changed since, at least so many words or all there is. Returns the last change. */
  function followFrom(seq: number, next: StatementSync, wordsMin: number): { seq: number; work: number } {
    let at = seq;
    let work = 0;
    while (work < wordsMin) {
      const row = next.get(at) as { seq: number; ids: Uint8Array } | undefined;
      if (!row) break;
      for (const id of new BigInt64Array(row.ids.slice().buffer)) work += take(id);
      at = row.seq;
    }
    return { seq: at, work };
  }

  /** Indexes single changes, and tells up to which one. */
  function catchUpSingle({ changes, bulkChanges }: Seen): number {
    const { seq } = followFrom(changes, change, STEP_WORDS);
    save({ changes: seq, bulkChanges });
    return seq;
  }

  /** Single changes first: nobody who adds a plant waits until an import is indexed. It has its share all the same. */
  function catchUp(seen: Seen): boolean {
    const single = followFrom(seen.changes, change, STEP_WORDS);
    const bulk = followFrom(seen.bulkChanges, bulkChange, Math.max(STEP_WORDS - single.work, STEP_WORDS / 4));
    save({ changes: single.seq, bulkChanges: bulk.seq });
    return single.work + bulk.work > 0;
  }

  /** Whether there is more to do. */
  function follow(): boolean {
    const { buildFrom, seen } = index.state();
    if (buildFrom === null) return catchUp(seen);
    // What changes while the index is built is looked at again afterwards.
    if (buildFrom === PLANT_ID_MIN) save({ ...(newest.get() as Seen) });
    build(buildFrom);
    return true;
  }

  /** Reads plants as they are at one moment: to begin and end a reading for each would take longer than the reading. */
  function atOnce<Result>(work: () => Result): Result {
    plants.exec("BEGIN");
    try {
      return work();
    } finally {
      if (plants.isTransaction) plants.exec("COMMIT");
    }
  }

  /** Begins a new index in the place of a damaged one. */
  function renew(): void {
    index.close();
    removeWordIndex(path);
    index = openWordIndex(path);
    synced = NOTHING_SEEN;
  }

  // Another store may have been put in the place of the one that was indexed, such as a backup of it.
  const { seen: seenBefore, mark } = index.state();
  if (mark !== markOf(seenBefore)) renew();

  return {
    /** Brings the index a step nearer to the plants. */
    step(): Progress {
      try {
        const isBehind = index.transaction(() => atOnce(follow));
        if (index.sync()) synced = index.state().seen;
        return { isBehind, seen: synced };
      } catch (reason) {
        if (!isDamage(reason)) throw reason;
        renew();
        return { isBehind: true, seen: synced };
      }
    },
    /** Looks into the index once it knows all single changes up to this one, without a number all that are committed now. Indexes them, if need be: not more than a step. */
    find(query: FindQuery, upTo = (newest.get() as Seen).changes): Found {
      try {
        const { buildFrom, seen } = index.state();
        if (buildFrom !== null) return { kind: "building" };
        const at = seen.changes < upTo ? index.transaction(() => atOnce(() => catchUpSingle(seen))) : seen.changes;
        return at < upTo ? { kind: "behind", upTo } : { kind: "ids", ids: index.find(query) };
      } catch (reason) {
        if (!isDamage(reason)) throw reason;
        renew();
        return { kind: "building" };
      }
    },
    countTags: createTagCounter(plants),
    close(): void {
      index.close();
      plants.close();
    },
  };
}
