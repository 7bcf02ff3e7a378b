import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Position } from "./changes.ts";

/** Reads what the writer has recorded. The writer itself does not load this: `node:crypto` is half of what its thread takes to start. */
export function prepareChangeReads(db: DatabaseSync) {
  const newest = db.prepare(
    "SELECT (SELECT coalesce(max(seq), 0) FROM changes) AS changes, (SELECT coalesce(max(seq), 0) FROM bulk_changes) AS bulkChanges",
  );
  const changeAt = db.prepare("SELECT ids FROM changes WHERE seq = ?");
  const bulkChangeAt = db.prepare("SELECT ids FROM bulk_changes WHERE seq = ?");
  return {
    newest: () => newest.get() as Position,
    /** Identifies a history of changes by its newest indexed rows, which are never deleted. */
    markOf({ changes, bulkChanges }: Position): string {
      const rows = [changeAt.get(changes), bulkChangeAt.get(bulkChanges)] as ({ ids: Uint8Array } | undefined)[];
      return rows.map((row) => (row ? hash("sha256", row.ids, "hex") : "none")).join(" ");
    },
  };
}
