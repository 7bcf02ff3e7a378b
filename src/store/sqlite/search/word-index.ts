import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { PLANT_ID_MIN } from "../../../plant.ts";
import { SEARCHED_LENGTH_MAX, tokenize } from "../../../tokenizer.ts";
import type { SearchTerms } from "../../../tokenizer.ts";
import { expressionOf, PREFIX_LENGTHS } from "./expression.ts";
import { makeDurable, WAL_PAGES_MAX } from "../engine/requirements.ts";
import type { Seen } from "./changes.ts";

/** The next page of ids to look at, at most `limit` from `from` on. */
export type FindQuery = SearchTerms & Readonly<{ from: bigint; limit: number }>;

/** What the index keeps of a plant. */
export type PlantRow = { name: string; tag: string | null };

/** How far it has come: from which id on plants are still to be looked at, the changes that it knows, and what marks their history. */
type State = { buildFrom: bigint | null; seen: Seen; mark: string };

/** Written into the file; another number makes the index anew. */
const VERSION = 4;

/** How many words, and how many tags of what length, are kept in memory as known. */
const WORDS_KNOWN_MAX = 50_000;
const TAGS_KNOWN_MAX = 1000;
const TAG_LENGTH_KNOWN_MAX = 100;

/** How many characters cost as much to read as a word costs to write. */
const CHARACTERS_A_WORD = 10;

/** Opens the index in a file of its own, or makes it. Only `isDamage` tells whether what it throws calls for a new one. */
export function openWordIndex(path: string) {
  const db = openAnew(path);
  // A commit that a power cut takes away is made again from the changes, which are forgotten only after a checkpoint. What
  // is left is whole (sqlite.org/pragma.html#pragma_synchronous), so a sync for each would only keep the disk from the plants.
  db.exec("PRAGMA synchronous = NORMAL");
  const put = db.prepare("INSERT OR REPLACE INTO names (rowid, words) VALUES (?, ?)");
  const remove = db.prepare("DELETE FROM names WHERE rowid = ?");
  const addWord = db.prepare("INSERT INTO words (word) VALUES (?) ON CONFLICT DO NOTHING");
  const find = readBigInts(db, "SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid >= ? ORDER BY rowid LIMIT ?");
  const state = readBigInts(db, "SELECT build_from AS buildFrom, changes, bulk_changes AS bulkChanges, mark FROM state");
  const saveBuild = db.prepare("UPDATE state SET build_from = ?");
  const saveSeen = db.prepare("UPDATE state SET changes = ?, bulk_changes = ?, mark = ?");
  const wordFrom = db.prepare("SELECT word FROM words WHERE word >= ? ORDER BY word LIMIT 1");
  const walPages = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  const known = new Set<string>();
  const tokens = new Map<string, string>();

  function tokenOf(tag: string): string {
    const remembered = tokens.get(tag);
    if (remembered !== undefined) return remembered;
    if (tokens.size >= TAGS_KNOWN_MAX) tokens.clear();
    const token = toToken(tag);
    // A tag of any length would make the memory for it any size.
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
    /** Brings all to the disk, once there is enough of it. False when nothing was done. */
    sync(): boolean {
      if (Number(walPages.get()?.["log"]) < WAL_PAGES_MAX) return false;
      db.exec("PRAGMA wal_checkpoint(PASSIVE)");
      return true;
    },
    /** Returns how much work it was, as much as that of so many words. */
    put(id: bigint, { name, tag }: PlantRow): number {
      const all = tokenize(name);
      const words = new Set(all);
      for (const word of words) learn(word);
      // So that one letter is looked for as fast as a word.
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
      return { buildFrom: row.buildFrom, seen: { changes: Number(row.changes), bulkChanges: Number(row.bulkChanges) }, mark: row.mark };
    },
    save({ buildFrom, seen, mark = "" }: Partial<State>): void {
      if (buildFrom !== undefined) saveBuild.run(buildFrom);
      if (seen !== undefined) saveSeen.run(seen.changes, seen.bulkChanges, mark);
    },
    close: () => db.close(),
  };
}

/** Opens the index, and begins a new one when there is none, or one of another version, or a damaged one. */
function openAnew(path: string): DatabaseSync {
  const found = new DatabaseSync(path);
  if (isOurs(found)) return found;
  found.close();
  removeWordIndex(path);
  const db = new DatabaseSync(path);
  makeDurable(db);
  // The words come folded, so nothing is left to do for the tokenizer. A tag is one token that no word can be. The index needs no copy of the names, and
  // knows only which plants hold a word (detail), in words and in their beginnings (prefix).
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

/** Also looks where the first page does not show a damage. */
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

/** Takes away the files of an index that is closed. */
export function removeWordIndex(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

const CORRUPT = 11;
const NOTADB = 26;

/** Whether the file of the index is damaged, or no database at all. */
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
