import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Position } from "./changes.ts";

/** How many rows of changes a search looks through, of up to twenty plants each. */
const ROWS_MAX = 2500;

/** Reads what the writer has recorded. The writer itself does not load this: `node:crypto` is half of what its thread takes to start. */
export function prepareChangeReads(db: DatabaseSync) {
  const newest = db.prepare(
    "SELECT (SELECT coalesce(max(seq), 0) FROM changes) AS changes, (SELECT coalesce(max(seq), 0) FROM bulk_changes) AS bulkChanges",
  );
  const idsAfter = db.prepare(`SELECT ids FROM changes WHERE seq > ? ORDER BY seq LIMIT ${ROWS_MAX + 1}`);
  const changeAt = db.prepare("SELECT ids FROM changes WHERE seq = ?");
  const bulkChangeAt = db.prepare("SELECT ids FROM bulk_changes WHERE seq = ?");
  return {
    newest: () => newest.get() as Position,
    /** Those of these ids, from `low` to `high`, that changed later, each once. Undefined when they are too many, or of an earlier version. */
    idsAfter({ changes, bulkChanges }: Position, low: bigint, high: bigint): ReadonlySet<bigint> | undefined {
      if ((newest.get() as Position).bulkChanges > bulkChanges) return undefined;
      const rows = idsAfter.all(changes) as { ids: Uint8Array }[];
      if (rows.length > ROWS_MAX) return undefined;
      const found = new Set<bigint>();
      for (const { ids } of rows) for (const id of new BigInt64Array(ids.slice().buffer)) if (id >= low && id <= high) found.add(id);
      return found;
    },
    /** Identifies a history of changes by its newest indexed rows, which are never deleted. */
    markOf({ changes, bulkChanges }: Position): string {
      const rows = [changeAt.get(changes), bulkChangeAt.get(bulkChanges)] as ({ ids: Uint8Array } | undefined)[];
      return rows.map((row) => (row ? hash("sha256", row.ids, "hex") : "none")).join(" ");
    },
  };
}
