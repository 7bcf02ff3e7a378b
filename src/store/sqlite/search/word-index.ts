import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { PLANT_ID_MIN } from "../../../plant.ts";
import { SEARCHED_LENGTH_MAX, tokenize } from "../../../tokenizer.ts";
import type { SearchTerms } from "../../../tokenizer.ts";
import { expressionOf, PREFIX_LENGTHS, startOf } from "./expression.ts";
import { makeDurable, WAL_PAGES_MAX } from "../engine/requirements.ts";
import type { Position } from "./changes.ts";

/** At most `limit` ids, starting at `from`. */
export type FindQuery = SearchTerms & Readonly<{ from: bigint; limit: number }>;

/** A plant as it is indexed. */
export type PlantRow = { id: bigint; name: string; tag: string | null };

/** The text that FTS5 indexes for a name, and how many words the name has. */
type Words = Readonly<{ text: string; count: number }>;

/**
 * Progress of the index: the id at which the build continues (null when it is complete), the changes indexed, and a
 * mark of their history.
 */
type State = { buildFrom: bigint | null; indexed: Position; mark: string };

/** Written into the file. A file with another number is rebuilt. */
const VERSION = 5;

/** Bounds of the caches: names, tags, and the length of what is cached. */
const NAMES_KNOWN_MAX = 10_000;
const TAGS_KNOWN_MAX = 1000;
const LENGTH_KNOWN_MAX = 64;

/** Reading this many characters costs as much as writing one word. */
const CHARACTERS_A_WORD = 10;

/** Opens the index, a file of its own, or creates it. `isDamage` tells which errors call for a new index. */
export function openWordIndex(path: string) {
  const db = openOrCreate(path);
  // A commit lost in a power cut is repeated from the changes, which are deleted only after a checkpoint. What is left
  // is consistent (sqlite.org/pragma.html#pragma_synchronous), so a sync for each commit would only slow down the
  // commits of plants.
  db.exec("PRAGMA synchronous = NORMAL");
  const highest = readBigInts(db, "SELECT max(id) AS id FROM names_docsize");
  const remove = db.prepare("DELETE FROM names WHERE rowid IN (SELECT value FROM json_each(?))");
  const add = db.prepare("INSERT INTO names (rowid, words) SELECT CAST(key AS INTEGER), value FROM json_each(?)");
  const addWords = db.prepare("INSERT INTO words (word) SELECT value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING");
  const find = readBigInts(db, "SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid >= ? ORDER BY rowid LIMIT ?");
  const state = readBigInts(db, "SELECT build_from AS buildFrom, changes, bulk_changes AS bulkChanges, mark FROM state");
  const saveBuild = db.prepare("UPDATE state SET build_from = ?");
  const saveIndexed = db.prepare("UPDATE state SET changes = ?, bulk_changes = ?, mark = ?");
  const wordFrom = db.prepare("SELECT word FROM words WHERE word >= ? ORDER BY word LIMIT 1");
  const walPages = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  /** The words of names that were indexed, and of those alone: their words are in the table. */
  const names = new Map<string, Words>();
  const tokens = new Map<string, string>();
  /** What the transaction will write: each plant as a member of a JSON object, or "" to remove it. */
  const plants = new Map<bigint, string>();
  const newWords = new Set<string>();

  function wordsOf(name: string): Words {
    const remembered = names.get(name);
    if (remembered !== undefined) return remembered;
    const all = tokenize(name);
    for (const word of all) newWords.add(word);
    return remember(names, name, { text: toText(all), count: all.length }, NAMES_KNOWN_MAX);
  }

  function tokenOf(tag: string): string {
    return tokens.get(tag) ?? remember(tokens, tag, toToken(tag), TAGS_KNOWN_MAX);
  }

  /** Writes the plants of a transaction in the order of their ids: FTS5 begins a new segment at each lower id. */
  function write(): void {
    const ids = BigInt64Array.from(plants.keys()).toSorted();
    const [first] = ids;
    if (first === undefined) return;
    const { id: last } = highest.get() as { id: bigint | null };
    if (last !== null && first <= last) remove.run(`[${ids.join()}]`);
    const members = Array.from(ids, (id) => plants.get(id)).filter((member) => member !== "");
    add.run(`{${members.join()}}`);
    if (newWords.size > 0) addWords.run(JSON.stringify([...newWords].toSorted()));
  }

  return {
    transaction<Result>(work: () => Result): Result {
      db.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        write();
        db.exec("COMMIT");
        return result;
      } catch (reason) {
        names.clear();
        if (db.isTransaction) db.exec("ROLLBACK");
        throw reason;
      } finally {
        plants.clear();
        newWords.clear();
      }
    },
    /** Checkpoints once the WAL is large enough. False when it did nothing. */
    sync(): boolean {
      if (Number(walPages.get()?.["log"]) < WAL_PAGES_MAX) return false;
      db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      return true;
    },
    /** Adds or replaces a plant. Returns the work, in words. */
    put({ id, name, tag }: PlantRow): number {
      const { text, count } = wordsOf(name);
      // Words and tokens need no escapes.
      plants.set(id, tag === null ? `"${id}":"${text}"` : `"${id}":"${text} ${tokenOf(tag)}"`);
      return count + (searchedLength(name) + searchedLength(tag ?? "")) / CHARACTERS_A_WORD;
    },
    remove(id: bigint): void {
      plants.set(id, "");
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
  // The index keeps no copy of the names (content), only which plants hold a word (detail). Few merges of its segments
  // cost a plant less, and a search a little more.
  db.exec(`
    BEGIN;
    CREATE VIRTUAL TABLE names USING fts5(
      words, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '#'"
    );
    INSERT INTO names (names, rank) VALUES ('automerge', 8);
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

/** The words of a name and their indexed prefixes, as FTS5 gets them. A search for a prefix is then as fast as for a word. */
function toText(words: readonly string[]): string {
  const terms = [...words];
  for (const word of words) for (const length of PREFIX_LENGTHS) if (word.length > length) terms.push(startOf(word, length));
  return terms.join(" ");
}

function remember<Value>(cache: Map<string, Value>, key: string, value: Value, entriesMax: number): Value {
  if (cache.size >= entriesMax) cache.clear();
  // Without this limit the cache would have no bound in bytes.
  if (key.length <= LENGTH_KNOWN_MAX) cache.set(key, value);
  return value;
}

function toToken(tag: string): string {
  return `#${hash("sha256", tag, "hex").slice(0, 16)}`;
}

function readBigInts(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
