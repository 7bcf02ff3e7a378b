import { DatabaseSync } from "node:sqlite";
import { isSqlError } from "./failure.ts";
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
  // `total`: how many plants all commits of the table's kind made, less what they deleted. Both tables together say how
  // many plants there are. They are counted once. A service of the version before, which still runs, leaves it out.
  `ALTER TABLE changes ADD COLUMN total INTEGER;
   ALTER TABLE bulk_changes ADD COLUMN total INTEGER;
   INSERT INTO changes (ids, total) SELECT x'', count(*) FROM plants HAVING count(*) > 0;`,
  // When the plant was created, in microseconds since 1970. Plants from before have none.
  `ALTER TABLE plants ADD COLUMN added INTEGER;`,
  // `before`: plants as they were before a change, for the index to forget (`toBefore`). The index of tags made nearly every
  // create write a page of it: the search index has the tags too. Only services up to 1.0.0 noted imports in `bulk_changes`.
  `DROP INDEX IF EXISTS plants_by_tag;
   ALTER TABLE changes ADD COLUMN before TEXT;
   DROP TABLE IF EXISTS bulk_changes;
   INSERT INTO changes (ids, total) SELECT x'', count(*) FROM plants HAVING count(*) > 0 OR EXISTS (SELECT 1 FROM changes);`,
  // The log, for those who follow the store: rows with a time are part of it (log-row.ts). The first has the time of this step,
  // with random microseconds, so a store that was restored is told from the one before. `first` and `last`: rows of an import.
  // What was before comes last: it may be long, and SQLite reads a row from its beginning.
  `ALTER TABLE changes RENAME TO notes;
   CREATE TABLE changes (
     seq INTEGER PRIMARY KEY, at INTEGER, total INTEGER, kinds TEXT, writers TEXT, import INTEGER, ids BLOB NOT NULL, before TEXT
   ) STRICT;
   INSERT INTO changes (seq, total, ids, before) SELECT seq, total, ids, before FROM notes;
   DROP TABLE notes;
   CREATE TABLE imports (
     number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, writer TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL,
     created INTEGER NOT NULL, replaced INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX imports_by_last ON imports (last);
   INSERT INTO changes (ids, total, at) VALUES (
     x'', coalesce((SELECT total FROM changes ORDER BY seq DESC LIMIT 1), 0),
     CAST(unixepoch('subsec') * 1000 AS INTEGER) * 1000 + abs(random() % 1000)
   );`,
] as const;

/** The version of the tables, without the mark that `user_version` may have above it. */
export function schemaVersion(db: DatabaseSync): number {
  return Number(pragma(db, "PRAGMA user_version")) & SCHEMA_VERSION_MAX;
}

/** Creates the tables, or migrates them to the newest version. Throws on a file of another program or a newer version. */
export function migrate(db: DatabaseSync): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    const version = schemaVersion(db);
    expectOurs(db);
    for (const step of MIGRATIONS.slice(version)) takeStep(db, { step, version });
    // A mark stays, or the WAL would seem to belong to another database.
    const marked = Number(pragma(db, "PRAGMA user_version")) - version + MIGRATIONS.length;
    if (version < MIGRATIONS.length) db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${marked};`);
    db.exec("COMMIT");
  } catch (reason) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw reason;
  }
}

function takeStep(db: DatabaseSync, { step, version }: { step: string; version: number }): void {
  try {
    db.exec(step);
  } catch (cause) {
    if (!isSqlError(cause)) throw cause;
    const message = `The tables are not those of version ${version}, so nothing was changed: export with the Plant Store that made them, and import into a new folder.`;
    throw new Error(message, { cause });
  }
}

/** Throws if another program, or a newer version, has made the file. */
export function expectOurs(db: DatabaseSync): void {
  const isEmpty = Number(pragma(db, "SELECT count(*) FROM sqlite_schema")) === 0;
  if (!isEmpty && pragma(db, "PRAGMA application_id") !== APPLICATION_ID)
    throw new Error("The file is a database of another program: name another folder with --data.");
  if (schemaVersion(db) > MIGRATIONS.length) throw new Error("The file was made by a newer Plant Store: use that version.");
}

/** What is different from the tables and indexes that its version has. */
export type SchemaFault = "tables" | "indexes";

/** Undefined when nothing is. What other programs have added does not count. */
export function findSchemaFault(db: DatabaseSync): SchemaFault | undefined {
  const version = schemaVersion(db);
  using model = new DatabaseSync(":memory:");
  for (const step of MIGRATIONS.slice(0, version)) model.exec(step);
  const there = new Set(objectsOf(db).map(({ sql }) => sql));
  const missing = objectsOf(model).filter(({ sql }) => !there.has(sql));
  if (missing.length === 0) return undefined;
  return missing.every(({ type }) => type === "index") ? "indexes" : "tables";
}

/** Whether the next start has nothing to migrate. */
export function isCurrent(db: DatabaseSync): boolean {
  return schemaVersion(db) === MIGRATIONS.length;
}

function objectsOf(db: DatabaseSync) {
  return db.prepare("SELECT type, sql FROM sqlite_schema WHERE sql IS NOT NULL").all() as { type: string; sql: string }[];
}
