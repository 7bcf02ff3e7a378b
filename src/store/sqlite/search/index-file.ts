import { existsSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { PLANT_ID_MIN } from "../../../domain/plant.ts";
import { isCorrupt } from "../engine/failure.ts";
import { makeDurable, pragma, prepareBigInts } from "../engine/requirements.ts";

/** The id at which a build continues (null when complete), the newest change indexed, and a mark of its history. */
export type IndexState = { buildFrom: bigint | null; indexed: number; mark: string };

/** Written into the file. A file with another number is rebuilt. */
const VERSION = 12;

/**
 * FTS5 counts its rows and words for a ranking that we never ask for, in its row 1. A plant may be removed as it was before
 * it was indexed (`WordIndex.remove`), and FTS5 takes a count below zero for damage. So both counts begin at 2^55.
 */
const BALLAST = "UPDATE names_data SET block = x'c080808080808000c080808080808000' WHERE id = 1;";

/** Opens the index. Creates a new one when there is none, or when it is damaged or has another version. */
export function openOrCreate(path: string): DatabaseSync {
  const found = new DatabaseSync(path);
  if (isOurs(found)) return found;
  found.close();
  removeWordIndex(path);
  const db = new DatabaseSync(path, { defensive: false });
  makeDurable(db);
  // Words arrive folded, so the tokenizer of FTS5 has nothing left to do. A tag is one token that no word can equal.
  // The index keeps no copy of the names (content), only which plants hold a word (detail), and no row for each plant
  // (columnsize): with random ids each would be on a page of its own. Few merges of its segments cost a plant less, and a
  // search a little more. A row of `words` with a tag is the token of that tag. The last word that was looked at is kept:
  // else each start would look at the same words again, and restarts would never remove the rest.
  db.exec(`
    BEGIN;
    CREATE VIRTUAL TABLE names USING fts5(
      words, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '#'"
    );
    INSERT INTO names (names, rank) VALUES ('automerge', 8);
    ${BALLAST}
    CREATE TABLE words (word TEXT PRIMARY KEY, tag TEXT) STRICT, WITHOUT ROWID;
    CREATE TABLE state (build_from INTEGER, changes INTEGER NOT NULL, mark TEXT NOT NULL) STRICT;
    INSERT INTO state VALUES (${PLANT_ID_MIN}, 0, 'none');
    CREATE TABLE looked_at (word TEXT NOT NULL) STRICT;
    INSERT INTO looked_at VALUES ('');
    PRAGMA user_version = ${VERSION};
    COMMIT;`);
  return db;
}

/** Also reads each table, as the first page does not show all damage. */
function isOurs(db: DatabaseSync): boolean {
  try {
    makeDurable(db);
    if (pragma(db, "PRAGMA user_version") !== VERSION) return false;
    for (const table of ["names_data", "names_idx", "words", "state", "looked_at"]) db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get();
    return true;
  } catch (reason) {
    if (isCorrupt(reason)) return false;
    throw reason;
  }
}

/** Removes the files of a closed index. */
export function removeWordIndex(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

export type LookedAt = NonNullable<ReturnType<typeof openForLook>>;

/**
 * Opens the index to be looked at. Undefined when the next start builds it: there is none, or one of another version. While
 * no one uses it, it has no WAL, and SQLite would make one: so it is told that no one will.
 */
export function openForLook(path: string) {
  if (!existsSync(path)) return undefined;
  const isUsed = existsSync(`${path}-wal`);
  const { href } = pathToFileURL(path);
  const before = statSync(path).mtimeMs;
  const db = new DatabaseSync(isUsed ? path : `${href}?immutable=1`, { readOnly: true });
  /** Whether no one has used it since it was opened, or SQLite knows of those who did. */
  const isUntouched = () => isUsed || (!existsSync(`${path}-wal`) && statSync(path, { throwIfNoEntry: false })?.mtimeMs === before);
  try {
    if (pragma(db, "PRAGMA user_version") === VERSION) return { db, isUntouched };
  } catch (reason) {
    db.close();
    throw reason;
  }
  db.close();
  return undefined;
}

type StateRow = { buildFrom: bigint | null; changes: bigint; mark: string };

/** Prepares to read how far an index is. */
export function prepareStateRead(db: DatabaseSync): () => IndexState {
  const state = prepareBigInts(db, "SELECT build_from AS buildFrom, changes, mark FROM state");
  return () => {
    const { buildFrom, changes, mark } = state.get() as StateRow;
    return { buildFrom, indexed: Number(changes), mark };
  };
}
