import type { DatabaseSync } from "node:sqlite";

/** Older releases can corrupt a database whose WAL is reset by two connections at once (sqlite.org/wal.html, "WAL-reset bug"). */
const SQLITE_VERSION_MIN = "3.51.3";

/** How large a WAL may grow before it is copied into its database, in pages of 4 KiB. */
export const WAL_PAGES_MAX = 4000;

/** The highest that `user_version` can tell: the rest of it is a mark (files.ts). */
export const SCHEMA_VERSION_MAX = 0xff;

/** Marks a database file as ours: "plnt" in ASCII. */
const APPLICATION_ID = 0x706c6e74;

/** One step a version: the statements that lead to it from the one before. A step is never edited once released. */
const MIGRATIONS = [
  `CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
   CREATE TABLE tokens (
     id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL,
     created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
   ) STRICT;`,
  // What a commit changed is written down in it: the ids as int64 in the order of the machine's bytes, until the search knows them.
  // An import has a table of its own, as single changes do not wait for it. The newest row always stays, so that `seq` never begins again.
  `CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;
   CREATE TABLE changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;
   CREATE TABLE bulk_changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;`,
  `ALTER TABLE tokens ADD COLUMN parent TEXT;
   ALTER TABLE tokens ADD COLUMN used INTEGER;
   CREATE INDEX tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL;`,
] as const;

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

/** Makes the tables, or brings them to the newest version. Throws on a file that is not ours, or is newer than this program. */
export function migrate(db: DatabaseSync): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    const version = Number(pragma(db, "PRAGMA user_version")) & SCHEMA_VERSION_MAX;
    const isEmpty = Number(pragma(db, "SELECT count(*) FROM sqlite_schema")) === 0;
    if (!isEmpty && pragma(db, "PRAGMA application_id") !== APPLICATION_ID) throw new Error("The file is a database of another program.");
    if (version > MIGRATIONS.length) throw new Error("The file was made by a newer Plant Store: use that one.");
    for (const step of MIGRATIONS.slice(version)) db.exec(step);
    if (version < MIGRATIONS.length) db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length};`);
    db.exec("COMMIT");
  } catch (reason) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw reason;
  }
}

function expectPragma(db: DatabaseSync, { ask, want }: { ask: string; want: string | number }): void {
  const is = pragma(db, ask);
  if (is !== want)
    throw new Error(
      `SQLite answers ${String(is)} to "${ask}", ${want} is needed to keep what was answered: is the file system a local one?`,
    );
}

function pragma(db: DatabaseSync, sql: string): unknown {
  const row = db.prepare(sql).get();
  return row === undefined ? undefined : Object.values(row)[0];
}

function compareVersions(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true });
}
