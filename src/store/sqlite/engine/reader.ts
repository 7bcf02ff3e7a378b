import { DatabaseSync } from "node:sqlite";
import { prepareImportReads } from "../imports.ts";
import { prepareLogReads } from "../log-reads.ts";
import { preparePlantReads } from "../plant-statements.ts";
import { prepareChangeReads } from "../search/recorded-changes.ts";
import { prepareTokenReads } from "../tokens.ts";
import { schemaVersion } from "./schema.ts";

export type Reader = ReturnType<typeof openReader>;

/** A read-only connection for short reads on the main thread. It sees only what was synced, and can never checkpoint. */
export function openReader(path: string) {
  const db = new DatabaseSync(path, { readOnly: true });
  return {
    plants: preparePlantReads(db),
    tokens: prepareTokenReads(db),
    log: prepareLogReads(db),
    imports: prepareImportReads(db),
    newestChanges: prepareChangeReads(db).newest,
    schemaVersion: () => schemaVersion(db),
    close: () => db.close(),
  };
}

/** A small cache: each page of plants is read once. In KiB. */
const SNAPSHOT_CACHE = 256;

/** A connection that sees the plants as they are now while it is open. Meanwhile the WAL cannot start again. */
export function openSnapshot(path: string) {
  const db = new DatabaseSync(path, { readOnly: true });
  db.exec(`PRAGMA cache_size = -${SNAPSHOT_CACHE}; BEGIN`);
  // The first read fixes the moment.
  db.prepare("SELECT 1 FROM plants LIMIT 1").get();
  return { list: preparePlantReads(db).list, close: () => db.close() };
}
