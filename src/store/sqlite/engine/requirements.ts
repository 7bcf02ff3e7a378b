import type { DatabaseSync } from "node:sqlite";

/** Older releases can corrupt a database whose WAL is reset by two connections at once (sqlite.org/wal.html, "WAL-reset bug"). */
const SQLITE_VERSION_MIN = "3.51.3";

/** How large a WAL may grow before it is copied into its database, in pages of 4 KiB. */
export const WAL_PAGES_MAX = 4000;

/** Sets a connection up for durable commits, and throws when SQLite does not do as told. */
export function makeDurable(db: DatabaseSync): void {
  const version = String(pragma(db, "SELECT sqlite_version()"));
  if (compareVersions(version, SQLITE_VERSION_MIN) < 0) {
    throw new Error(`This runtime has SQLite ${version}, which can corrupt a database: use one with ${SQLITE_VERSION_MIN} or newer.`);
  }
  // On macOS an ordinary fsync stops at the drive's cache; elsewhere these two do nothing.
  db.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;");
  expectPragma(db, { ask: "PRAGMA journal_mode = WAL", want: "wal" });
  db.exec("PRAGMA synchronous = FULL");
  expectPragma(db, { ask: "PRAGMA synchronous", want: 2 });
  // Our own checkpoints: the automatic ones hide their errors, so a failed fsync would be tried again and believed.
  db.exec("PRAGMA wal_autocheckpoint = 0");
}

function expectPragma(db: DatabaseSync, { ask, want }: { ask: string; want: string | number }): void {
  const is = pragma(db, ask);
  if (is !== want)
    throw new Error(
      `SQLite answers ${String(is)} to "${ask}", ${want} is needed to keep what was answered: is the file system a local one?`,
    );
}

/** The first value that a statement gives. */
export function pragma(db: DatabaseSync, sql: string): unknown {
  const row = db.prepare(sql).get();
  return row === undefined ? undefined : Object.values(row)[0];
}

function compareVersions(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true });
}
