import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { WAL_BYTES_KEPT } from "./wal.ts";

/** Older releases can corrupt a database when two connections reset its WAL at once (sqlite.org/wal.html, "WAL-reset bug"). */
const SQLITE_VERSION_MIN = "3.51.3";

/** Sets up a connection for durable commits. Throws when SQLite does not accept a setting. */
export function makeDurable(db: DatabaseSync): void {
  const version = String(pragma(db, "SELECT sqlite_version()"));
  if (compareVersions(version, SQLITE_VERSION_MIN) < 0) {
    throw new Error(`This runtime has SQLite ${version}, which can corrupt a database: use one with ${SQLITE_VERSION_MIN} or newer.`);
  }
  // On macOS a plain fsync does not flush the drive's cache. Elsewhere these two have no effect.
  db.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;");
  expectPragma(db, { ask: "PRAGMA journal_mode = WAL", want: "wal" });
  db.exec("PRAGMA synchronous = FULL");
  expectPragma(db, { ask: "PRAGMA synchronous", want: 2 });
  // We run our own checkpoints: automatic ones hide errors, so a sync retried after a failure would be trusted.
  db.exec("PRAGMA wal_autocheckpoint = 0");
  db.exec(`PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}`);
  // What a large statement would undo goes into a file without a name, and an image for containers has no /tmp. Once the
  // folder is gone, SQLite takes another one.
  db.exec(`PRAGMA temp_store_directory = '${dirname(db.location()!).replaceAll("'", "''")}'`);
}

function expectPragma(db: DatabaseSync, { ask, want }: { ask: string; want: string | number }): void {
  const is = pragma(db, ask);
  if (is !== want)
    throw new Error(
      `SQLite answers ${String(is)} to "${ask}", but durable commits need ${want}: is the data folder on a local file system?`,
    );
}

/** The first column of the first row. */
export function pragma(db: DatabaseSync, sql: string): unknown {
  const row = db.prepare(sql).get();
  return row === undefined ? undefined : Object.values(row)[0];
}

function compareVersions(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true });
}

/** Prepares a statement whose integers are read as `bigint`: a number would be wrong beyond 2^53. */
export function prepareBigInts(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
