import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { fromIds } from "../log-row.ts";
import type { LogRow } from "../log-row.ts";

/** How many rows of changes a search looks through, of up to twenty plants each. */
const ROWS_MAX = 2500;

/** Reads what the writer has recorded. The writer itself does not load this: `node:crypto` is half of what its thread takes to start. */
export function prepareChangeReads(db: DatabaseSync) {
  const newest = db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM changes");
  const idsAfter = db.prepare(`SELECT ids FROM changes WHERE seq > ? ORDER BY seq LIMIT ${ROWS_MAX + 1}`);
  const changeAt = db.prepare("SELECT ids, at FROM changes WHERE seq = ?");
  return {
    /** The newest change; 0 if there was none. */
    newest: () => Number(newest.get()!["seq"]),
    /** Those of these ids, from `low` to `high`, that changed later, each once. Undefined when they are too many. */
    idsAfter(change: number, low: bigint, high: bigint): ReadonlySet<bigint> | undefined {
      const rows = idsAfter.all(change) as { ids: Uint8Array }[];
      if (rows.length > ROWS_MAX) return undefined;
      const found = new Set<bigint>();
      for (const { ids } of rows) for (const id of fromIds(ids)) if (id >= low && id <= high) found.add(id);
      return found;
    },
    /** Identifies a history of changes by its newest indexed row, which is never deleted. */
    markOf(change: number): string {
      const row = changeAt.get(change) as Pick<LogRow, "ids" | "at"> | undefined;
      if (!row) return "none";
      // Those from before the log have no time.
      return hash("sha256", row.at === null ? row.ids : Buffer.concat([row.ids, Buffer.from(String(row.at))]), "hex");
    },
  };
}
