import type { DatabaseSync } from "node:sqlite";

/** The newest changes, of both kinds, that the search knows for good. */
export type Seen = Readonly<{ changes: number; bulkChanges: number }>;

export const NOTHING_SEEN: Seen = { changes: 0, bulkChanges: 0 };

/** How many plants a row of changes names at the most: the search looks at those of a row in one go. */
const CHANGE_PLANTS_MAX = 20;

/** Notes what a transaction of the writer changes, as part of it, so that the search never misses a plant. */
export function prepareChanges(db: DatabaseSync) {
  const insert = db.prepare("INSERT INTO changes (ids) VALUES (?)");
  const insertBulk = db.prepare("INSERT INTO bulk_changes (ids) VALUES (?)");
  const forget = db.prepare("DELETE FROM changes WHERE seq < ?");
  const forgetBulk = db.prepare("DELETE FROM bulk_changes WHERE seq < ?");
  let forgotten = NOTHING_SEEN;

  return {
    /** Whether anything was changed. No search waits for the plants of an import, which is bulk. */
    note(changed: readonly bigint[], { isBulk }: { isBulk: boolean }): boolean {
      const into = isBulk ? insertBulk : insert;
      const ids = BigInt64Array.from(changed);
      for (let at = 0; at < ids.length; at += CHANGE_PLANTS_MAX) {
        const { buffer, byteOffset, byteLength } = ids.subarray(at, at + CHANGE_PLANTS_MAX);
        into.run(new Uint8Array(buffer, byteOffset, byteLength));
      }
      return ids.length > 0;
    },
    /** Forgets the changes that the search holds for good, when there are new ones. */
    forget(seen: Seen): void {
      if (seen.changes > forgotten.changes) forget.run(seen.changes);
      if (seen.bulkChanges > forgotten.bulkChanges) forgetBulk.run(seen.bulkChanges);
      // Should this commit fail, the next forgetting takes what was to be forgotten now along.
      forgotten = seen;
    },
  };
}
