import type { DatabaseSync } from "node:sqlite";
import { toBytes, withoutPlant } from "./log-row.ts";

/** How many rows a commit erases in: those of a service go between. How long each waits for them, in milliseconds. */
const ERASED_ROWS = 5;
const ERASE_BUSY_MS = 10_000;

type Erase = Readonly<{ id: bigint; transaction: (work: () => void) => void }>;

/**
 * Erases what a plant was from the changes that are kept, some rows a commit. What is freed is written over with zeros, but
 * parts of pages that SQLite has moved before may hold it until a VACUUM. Returns how many states.
 */
export function erasePlant(db: DatabaseSync, { id, transaction }: Erase): number {
  // sqlite.org/pragma.html#pragma_secure_delete
  db.exec(`PRAGMA busy_timeout = ${ERASE_BUSY_MS}; PRAGMA secure_delete = ON`);
  const { rowsOf, eraseIn } = prepareErase(db);
  const rows = rowsOf(id);
  let erased = 0;
  for (let at = 0; at < rows.length; at += ERASED_ROWS)
    transaction(() => rows.slice(at, at + ERASED_ROWS).forEach((row) => (erased += eraseIn(row, id))));
  return erased;
}

function prepareErase(db: DatabaseSync) {
  const rowsOf = db.prepare("SELECT seq FROM changes WHERE instr(ids, ?) > 0 AND before IS NOT NULL ORDER BY seq");
  const find = db.prepare("SELECT before FROM changes WHERE seq = ? AND before IS NOT NULL");
  const update = db.prepare("UPDATE changes SET before = ? WHERE seq = ?");
  return {
    /** The rows that may have what the plant with this id was. */
    rowsOf: (id: bigint) => rowsOf.all(toBytes(id)).map(({ seq }) => Number(seq)),
    /** Erases that from one of them, within a transaction. Returns how often it was there. */
    eraseIn(row: number, id: bigint): number {
      const found = find.get(row) as { before: string } | undefined;
      if (!found) return 0;
      const { before, erased } = withoutPlant(found.before, id);
      if (erased > 0) update.run(before, row);
      return erased;
    },
  };
}
