import type { DatabaseSync, StatementSync } from "node:sqlite";

/** The newest change of each kind that the index holds durably. */
export type Position = Readonly<{ changes: number; bulkChanges: number }>;

export const NOTHING_INDEXED: Position = { changes: 0, bulkChanges: 0 };

/** An import is bulk: no search waits for its plants. `grown`: by how many plants there are more than before. */
type Change = Readonly<{ isBulk: boolean; grown: number }>;

/** Most ids in a row of changes: the indexer takes a row as a whole. */
const CHANGE_PLANTS_MAX = 20;

/**
 * Records what a transaction of the writer changes, inside that transaction, so that the index never misses a plant.
 */
export function prepareChanges(db: DatabaseSync) {
  const insert = prepareNote(db, "changes");
  const insertBulk = prepareNote(db, "bulk_changes");
  const forget = db.prepare("DELETE FROM changes WHERE seq < ?");
  const forgetBulk = db.prepare("DELETE FROM bulk_changes WHERE seq < ?");
  let forgotten = NOTHING_INDEXED;

  return {
    /** Returns whether anything changed. */
    note(changed: readonly bigint[], { isBulk, grown }: Change): boolean {
      const into = isBulk ? insertBulk : insert;
      const ids = BigInt64Array.from(changed);
      for (let at = 0; at < ids.length; at += CHANGE_PLANTS_MAX) {
        const { buffer, byteOffset, byteLength } = ids.subarray(at, at + CHANGE_PLANTS_MAX);
        into.run(new Uint8Array(buffer, byteOffset, byteLength), at === 0 ? grown : 0);
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

/**
 * Each row has the sum of all rows up to it, so that the newest has the whole sum. Behind a row without one, of another
 * version, the plants are counted, whose number includes this change.
 */
function prepareNote(db: DatabaseSync, table: Table): StatementSync {
  const recount = `(SELECT count(*) FROM plants) - ${newestTotal(table === "changes" ? "bulk_changes" : "changes")}`;
  return db.prepare(
    `INSERT INTO ${table} (ids, total) SELECT ?1, CASE WHEN ${isUnknown(table)} THEN ${recount} ELSE ?2 + ${newestTotal(table)} END`,
  );
}

type Table = "changes" | "bulk_changes";

/** How many plants there are. */
export const TOTAL = `CASE WHEN ${isUnknown("changes")} OR ${isUnknown("bulk_changes")} THEN (SELECT count(*) FROM plants)
  ELSE ${newestTotal("changes")} + ${newestTotal("bulk_changes")} END`;

function newestTotal(table: Table): string {
  return `coalesce((SELECT total FROM ${table} ORDER BY seq DESC LIMIT 1), 0)`;
}

function isUnknown(table: Table): string {
  return `(SELECT total IS NULL FROM ${table} ORDER BY seq DESC LIMIT 1)`;
}
