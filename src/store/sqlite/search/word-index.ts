import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { PLANT_ID_MIN } from "../../../plant.ts";
import { SEARCHED_LENGTH_MAX, tokenize } from "../../../tokenizer.ts";
import type { SearchTerms } from "../../../tokenizer.ts";
import { expressionOf, PREFIX_LENGTHS } from "./expression.ts";
import { makeDurable, WAL_PAGES_MAX } from "../engine/requirements.ts";
import type { Position } from "./changes.ts";

/** At most `limit` ids, starting at `from`. */
export type FindQuery = SearchTerms & Readonly<{ from: bigint; limit: number }>;

/** The columns of a plant that are indexed. */
export type PlantRow = { name: string; tag: string | null };

/**
 * Progress of the index: the id at which the build continues (null when it is complete), the changes indexed, and a
 * mark of their history.
 */
type State = { buildFrom: bigint | null; indexed: Position; mark: string };

/** Written into the file. A file with another number is rebuilt. */
const VERSION = 4;

/** Bounds of the caches: words, tags, and the length of a cached tag. */
const WORDS_KNOWN_MAX = 50_000;
const TAGS_KNOWN_MAX = 1000;
const TAG_LENGTH_KNOWN_MAX = 100;

/** Reading this many characters costs as much as writing one word. */
const CHARACTERS_A_WORD = 10;

/** Opens the index, a file of its own, or creates it. `isDamage` tells which errors call for a new index. */
export function openWordIndex(path: string) {
  const db = openOrCreate(path);
  // A commit lost in a power cut is repeated from the changes, which are deleted only after a checkpoint. What is left
  // is consistent (sqlite.org/pragma.html#pragma_synchronous), so a sync for each commit would only slow down the
  // commits of plants.
  db.exec("PRAGMA synchronous = NORMAL");
  const put = db.prepare("INSERT OR REPLACE INTO names (rowid, words) VALUES (?, ?)");
  const remove = db.prepare("DELETE FROM names WHERE rowid = ?");
  const addWord = db.prepare("INSERT INTO words (word) VALUES (?) ON CONFLICT DO NOTHING");
  const find = readBigInts(db, "SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid >= ? ORDER BY rowid LIMIT ?");
  const state = readBigInts(db, "SELECT build_from AS buildFrom, changes, bulk_changes AS bulkChanges, mark FROM state");
  const saveBuild = db.prepare("UPDATE state SET build_from = ?");
  const saveIndexed = db.prepare("UPDATE state SET changes = ?, bulk_changes = ?, mark = ?");
  const wordFrom = db.prepare("SELECT word FROM words WHERE word >= ? ORDER BY word LIMIT 1");
  const walPages = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  const known = new Set<string>();
  const tokens = new Map<string, string>();

  function tokenOf(tag: string): string {
    const remembered = tokens.get(tag);
    if (remembered !== undefined) return remembered;
    if (tokens.size >= TAGS_KNOWN_MAX) tokens.clear();
    const token = toToken(tag);
    // Without this limit the cache would have no bound in bytes.
    if (tag.length <= TAG_LENGTH_KNOWN_MAX) tokens.set(tag, token);
    return token;
  }

  function learn(word: string): void {
    if (known.has(word)) return;
    if (known.size >= WORDS_KNOWN_MAX) known.clear();
    known.add(word);
    addWord.run(word);
  }

  return {
    transaction<Result>(work: () => Result): Result {
      db.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        db.exec("COMMIT");
        return result;
      } catch (reason) {
        known.clear();
        if (db.isTransaction) db.exec("ROLLBACK");
        throw reason;
      }
    },
    /** Checkpoints once the WAL is large enough. False when it did nothing. */
    sync(): boolean {
      if (Number(walPages.get()?.["log"]) < WAL_PAGES_MAX) return false;
      db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      return true;
    },
    /** Returns the work done, in words. */
    put(id: bigint, { name, tag }: PlantRow): number {
      const all = tokenize(name);
      const words = new Set(all);
      for (const word of words) learn(word);
      // A search for one letter is then as fast as for a word.
      for (const word of all) words.add(String.fromCodePoint(word.codePointAt(0)!));
      const text = [...words].join(" ");
      put.run(id, tag === null ? text : `${text} ${tokenOf(tag)}`);
      return all.length + (searchedLength(name) + searchedLength(tag ?? "")) / CHARACTERS_A_WORD;
    },
    remove(id: bigint): void {
      remove.run(id);
    },
    find({ words, tag, from, limit }: FindQuery): BigInt64Array {
      const expression = expressionOf({
        words,
        token: tag === undefined ? undefined : toToken(tag),
        wordFrom: (text) => wordFrom.get(text)?.["word"] as string | undefined,
      });
      return BigInt64Array.from(find.all(expression, from, limit) as { id: bigint }[], ({ id }) => id);
    },
    state(): State {
      const row = state.get() as { buildFrom: bigint | null; changes: bigint; bulkChanges: bigint; mark: string };
      return { buildFrom: row.buildFrom, indexed: { changes: Number(row.changes), bulkChanges: Number(row.bulkChanges) }, mark: row.mark };
    },
    save({ buildFrom, indexed, mark = "" }: Partial<State>): void {
      if (buildFrom !== undefined) saveBuild.run(buildFrom);
      if (indexed !== undefined) saveIndexed.run(indexed.changes, indexed.bulkChanges, mark);
    },
    close: () => db.close(),
  };
}

/** Opens the index. Creates a new one when there is none, or when it is damaged or has another version. */
function openOrCreate(path: string): DatabaseSync {
  const found = new DatabaseSync(path);
  if (isOurs(found)) return found;
  found.close();
  removeWordIndex(path);
  const db = new DatabaseSync(path);
  makeDurable(db);
  // Words arrive folded, so the tokenizer of FTS5 has nothing left to do. A tag is one token that no word can equal.
  // The index keeps no copy of the names (content), only which plants hold a word (detail) or a prefix of one (prefix).
  db.exec(`
    BEGIN;
    CREATE VIRTUAL TABLE names USING fts5(
      words, content='', contentless_delete=1, detail=none, prefix='${PREFIX_LENGTHS.join(" ")}', tokenize="ascii tokenchars '#'"
    );
    CREATE TABLE words (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE state (build_from INTEGER, changes INTEGER NOT NULL, bulk_changes INTEGER NOT NULL, mark TEXT NOT NULL) STRICT;
    INSERT INTO state VALUES (${PLANT_ID_MIN}, 0, 0, 'none none');
    PRAGMA user_version = ${VERSION};
    COMMIT;`);
  return db;
}

/** Also reads each table: the first page does not show all damage. */
function isOurs(db: DatabaseSync): boolean {
  try {
    makeDurable(db);
    if (db.prepare("PRAGMA user_version").get()?.["user_version"] !== VERSION) return false;
    for (const table of ["names", "words", "state"]) db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get();
    return true;
  } catch (reason) {
    if (isDamage(reason)) return false;
    throw reason;
  }
}

/** Removes the files of a closed index. */
export function removeWordIndex(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

const CORRUPT = 11;
const NOTADB = 26;

/** Whether the file of the index is damaged, or not a database. */
export function isDamage(reason: unknown): boolean {
  const errcode = reason instanceof Error && "errcode" in reason ? Number(reason.errcode) & 0xff : 0;
  return errcode === CORRUPT || errcode === NOTADB;
}

function searchedLength({ length }: string): number {
  return Math.min(length, SEARCHED_LENGTH_MAX);
}

function toToken(tag: string): string {
  return `#${hash("sha256", tag, "hex").slice(0, 16)}`;
}

function readBigInts(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
