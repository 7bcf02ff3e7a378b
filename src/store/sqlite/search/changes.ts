import type { DatabaseSync, StatementSync } from "node:sqlite";

/** The newest change of each table that an index holds. Only services up to 1.0.0 wrote `bulk_changes`, for imports. */
export type Position = Readonly<{ changes: number; bulkChanges: number }>;

export const NOTHING_INDEXED: Position = { changes: 0, bulkChanges: 0 };

/** Most ids in a row of changes: the indexer takes a row as a whole. */
const CHANGE_PLANTS_MAX = 20;

/**
 * Records what a transaction of the writer changes, inside that transaction, so that the index never misses a plant.
 */
export function prepareChanges(db: DatabaseSync) {
  const insert = prepareNote(db);
  const forget = db.prepare("DELETE FROM changes WHERE seq < ?");
  const forgetBulk = db.prepare("DELETE FROM bulk_changes WHERE seq < ?");
  let forgotten = NOTHING_INDEXED;

  return {
    /** `grown`: by how many plants there are more than before. Returns the newest change; undefined if there is none. */
    note(changed: readonly bigint[], grown: number): number | undefined {
      const ids = BigInt64Array.from(changed);
      let newest: number | undefined;
      for (let at = 0; at < ids.length; at += CHANGE_PLANTS_MAX) {
        const { buffer, byteOffset, byteLength } = ids.subarray(at, at + CHANGE_PLANTS_MAX);
        newest = Number(insert.run(new Uint8Array(buffer, byteOffset, byteLength), at === 0 ? grown : 0).lastInsertRowid);
      }
      return newest;
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

/** Each row has the sum of all rows up to it. Behind one without, of another version, plants are counted, with this change. */
function prepareNote(db: DatabaseSync): StatementSync {
  const recount = `(SELECT count(*) FROM plants) - ${newestTotal("bulk_changes")}`;
  return db.prepare(
    `INSERT INTO changes (ids, total) SELECT ?1, CASE WHEN ${isUnknown("changes")} THEN ${recount} ELSE ?2 + ${newestTotal("changes")} END`,
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
