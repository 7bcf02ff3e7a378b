import type { DatabaseSync } from "node:sqlite";
import { pragma } from "./requirements.ts";

/** The highest schema version. The bits of `user_version` above it hold a mark (files.ts). */
export const SCHEMA_VERSION_MAX = 0xff;

/** Marks a database file as ours: "plnt" in ASCII. */
const APPLICATION_ID = 0x706c6e74;

/** One step for each version, from the version before it. Never edit a released step. */
const MIGRATIONS = [
  `CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
   CREATE TABLE tokens (
     id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL,
     created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
   ) STRICT;`,
  // Each commit records the ids that it changed, as int64 in the machine's byte order, until the index holds them.
  // Imports have a table of their own, because single changes do not wait for them. The newest row always stays, so
  // `seq` never restarts.
  `CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;
   CREATE TABLE changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;
   CREATE TABLE bulk_changes (seq INTEGER PRIMARY KEY, ids BLOB NOT NULL) STRICT;`,
  `ALTER TABLE tokens ADD COLUMN parent TEXT;
   ALTER TABLE tokens ADD COLUMN used INTEGER;
   CREATE INDEX tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL;`,
] as const;

/**
 * Creates the tables, or migrates them to the newest version. Throws on a file of another program or of a newer
 * version.
 */
export function migrate(db: DatabaseSync): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    const version = Number(pragma(db, "PRAGMA user_version")) & SCHEMA_VERSION_MAX;
    const isEmpty = Number(pragma(db, "SELECT count(*) FROM sqlite_schema")) === 0;
    if (!isEmpty && pragma(db, "PRAGMA application_id") !== APPLICATION_ID)
      throw new Error("The file is a database of another program: name another folder with --data.");
    if (version > MIGRATIONS.length) throw new Error("The file was made by a newer Plant Store: use that version.");
    for (const step of MIGRATIONS.slice(version)) db.exec(step);
    if (version < MIGRATIONS.length) db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length};`);
    db.exec("COMMIT");
  } catch (reason) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw reason;
  }
}
