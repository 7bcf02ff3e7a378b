import type { DatabaseSync } from "node:sqlite";

/** The newest change of each kind that the index holds durably. */
export type Position = Readonly<{ changes: number; bulkChanges: number }>;

export const NOTHING_INDEXED: Position = { changes: 0, bulkChanges: 0 };

/** Most ids in a row of changes: the indexer takes a row as a whole. */
const CHANGE_PLANTS_MAX = 20;

/**
 * Records what a transaction of the writer changes, inside that transaction, so that the index never misses a plant.
 */
export function prepareChanges(db: DatabaseSync) {
  const insert = db.prepare("INSERT INTO changes (ids) VALUES (?)");
  const insertBulk = db.prepare("INSERT INTO bulk_changes (ids) VALUES (?)");
  const forget = db.prepare("DELETE FROM changes WHERE seq < ?");
  const forgetBulk = db.prepare("DELETE FROM bulk_changes WHERE seq < ?");
  let forgotten = NOTHING_INDEXED;

  return {
    /** Returns whether anything changed. An import is bulk: no search waits for its plants. */
    note(changed: readonly bigint[], { isBulk }: { isBulk: boolean }): boolean {
      const into = isBulk ? insertBulk : insert;
      const ids = BigInt64Array.from(changed);
      for (let at = 0; at < ids.length; at += CHANGE_PLANTS_MAX) {
        const { buffer, byteOffset, byteLength } = ids.subarray(at, at + CHANGE_PLANTS_MAX);
        into.run(new Uint8Array(buffer, byteOffset, byteLength));
      }
      return ids.length > 0;
    },
    /** Deletes the changes that the index holds durably, if there are new ones. */
    forget(indexed: Position): void {
      if (indexed.changes > forgotten.changes) forget.run(indexed.changes);
      if (indexed.bulkChanges > forgotten.bulkChanges) forgetBulk.run(indexed.bulkChanges);
      // If this commit fails, the next deletion covers these rows too.
      forgotten = indexed;
    },
  };
}
