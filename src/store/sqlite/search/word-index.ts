import { hash } from "node:crypto";
import { existsSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { nameKey } from "../../../name-order.ts";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../../plant.ts";
import { SEARCHED_LENGTH_MAX, tokenize } from "../../../tokenizer.ts";
import type { SearchTerms } from "../../../tokenizer.ts";
import { expressionOf, PREFIX_LENGTHS, startOf } from "./expression.ts";
import { makeDurable, pragma, WAL_PAGES_MAX } from "../engine/requirements.ts";
import type { Order, Place } from "../../page.ts";
import { keyOfToken, PLACES, timeKey, tokenOfPlace } from "./place-tokens.ts";
import type { Position } from "./changes.ts";

/** At most `limit` ids, starting at `from`. */
export type FindQuery = SearchTerms & Readonly<{ from: bigint; limit: number }>;

/** A plant as it is indexed. */
export type PlantRow = { id: bigint; name: string; tag: string | null; added: bigint | null };

/** At most `limit` places in an order, behind one. */
export type WalkQuery = Readonly<{ order: Order; after: Place | undefined; limit: number }>;

/** The text that FTS5 indexes for a name, and how many words the name has. */
type Words = Readonly<{ text: string; count: number }>;

/**
 * Progress of the index: the id at which the build continues (null when it is complete), the changes indexed, and a
 * mark of their history.
 */
type State = { buildFrom: bigint | null; indexed: Position; mark: string };

const STATE = "SELECT build_from AS buildFrom, changes, bulk_changes AS bulkChanges, mark FROM state";

type StateRow = { buildFrom: bigint | null; changes: bigint; bulkChanges: bigint; mark: string };

/** Written into the file. A file with another number is rebuilt. */
const VERSION = 7;

/** The token of plants without a tag. No token of a tag equals it. */
const NO_TAG = "#none";

/** Bounds of the caches: names, tags, and the length of what is cached. */
const NAMES_KNOWN_MAX = 10_000;
const TAGS_KNOWN_MAX = 1000;
const LENGTH_KNOWN_MAX = 64;

/** Reading this many characters costs as much as writing one word. */
const CHARACTERS_A_WORD = 10;

export type WordIndex = ReturnType<typeof openWordIndex>;

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
  const state = readBigInts(db, STATE);
  const saveBuild = db.prepare("UPDATE state SET build_from = ?");
  const saveIndexed = db.prepare("UPDATE state SET changes = ?, bulk_changes = ?, mark = ?");
  db.exec("CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(main, names, instance)");
  const rest = {
    name: readBigInts(db, "SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?"),
    newest: readBigInts(db, "SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?"),
  } as const satisfies Record<Order, StatementSync>;
  const tokensFrom = readBigInts(db, "SELECT term AS token, doc AS id FROM tokens WHERE term >= ? AND term < ? LIMIT ?");
  const wordFrom = db.prepare("SELECT word FROM words WHERE word >= ? ORDER BY word LIMIT 1");
  const walPages = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  /** The words of names that were indexed, and of those alone: their words are in the table. */
  const names = new Map<string, Words>();
  const tokens = new Map<string, string>();
  /** What the transaction will write: each plant as a member of a JSON object, or "" to remove it. */
  const plants = new Map<bigint, string>();
  const newWords = new Set<string>();
  let lastTime: Readonly<{ added: bigint | null; token: string }> | undefined;

  function wordsOf(name: string): Words {
    const remembered = names.get(name);
    if (remembered !== undefined) return remembered;
    const all = tokenize(name);
    for (const word of all) newWords.add(word);
    return remember(names, name, { text: textOf(name, all), count: all.length }, NAMES_KNOWN_MAX);
  }

  function tokenOf(tag: string | null): string {
    if (tag === null) return NO_TAG;
    return tokens.get(tag) ?? remember(tokens, tag, toToken(tag), TAGS_KNOWN_MAX);
  }

  /** Plants that one commit created have one time. */
  function tokenOfTime(added: bigint | null): string {
    if (lastTime?.added !== added) lastTime = { added, token: tokenOfPlace("newest", timeKey(added)) };
    return lastTime.token;
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
    put({ id, name, tag, added }: PlantRow): number {
      const { text, count } = wordsOf(name);
      // Words and tokens need no escapes.
      plants.set(id, `"${id}":"${text} ${tokenOf(tag)} ${tokenOfTime(added)}"`);
      return count + (searchedLength(name) + searchedLength(tag ?? "")) / CHARACTERS_A_WORD;
    },
    remove(id: bigint): void {
      plants.set(id, "");
    },
    find({ words, tag, from, limit }: FindQuery): BigInt64Array {
      const expression = expressionOf({
        words,
        token: tag === undefined ? undefined : tokenOf(tag),
        wordFrom: (text) => wordFrom.get(text)?.["word"] as string | undefined,
      });
      return BigInt64Array.from(find.all(expression, from, limit) as { id: bigint }[], ({ id }) => id);
    },
    /** The next places in an order. A plant may have changed since. */
    walk({ order, after, limit }: WalkQuery): Place[] {
      const { start, end } = PLACES[order];
      const places: Place[] = [];
      function addAll(token: string, ids: readonly bigint[]): void {
        for (const id of ids) places.push({ key: keyOfToken(order, token), id: asPlantId(id) });
      }
      function restOf(token: string, id: bigint): bigint[] {
        return (rest[order].all(`"${token}"`, id, limit - places.length) as { id: bigint }[]).map((row) => row.id);
      }

      let from: string = start;
      if (after) {
        const token = tokenOfPlace(order, after.key);
        if (order === "name") addAll(token, restOf(token, after.id));
        else if (after.id > PLANT_ID_MIN) addAll(token, restOf(token, after.id - 1n));
        // Not the token itself: its plants, of which there may be many, would be visited again.
        from = `${token}0`;
      }
      const rows = places.length < limit ? (tokensFrom.all(from, end, limit - places.length) as { token: string; id: bigint }[]) : [];
      const groups = [...Map.groupBy(rows, (row) => row.token)];
      for (const [at, [of, group]] of groups.entries()) {
        const ids = group.map(({ id }) => id);
        // They are in the order of their ids, and the last group may have more.
        if (order === "name") addAll(of, ids);
        else addAll(of, at < groups.length - 1 ? ids.toReversed() : restOf(of, PLANT_ID_MAX));
      }
      return places;
    },
    state(): State {
      return toState(state.get() as StateRow);
    },
    save({ buildFrom, indexed, mark = "" }: Partial<State>): void {
      if (buildFrom !== undefined) saveBuild.run(buildFrom);
      if (indexed !== undefined) saveIndexed.run(indexed.changes, indexed.bulkChanges, mark);
    },
    close: () => db.close(),
  };
}

/** All that the index holds of a plant, in any order. */
export function tokensOf({ name, tag, added }: Omit<PlantRow, "id">, words: readonly string[]): Set<string> {
  const token = tag === null ? NO_TAG : toToken(tag);
  return new Set(`${textOf(name, words)} ${token} ${tokenOfPlace("newest", timeKey(added))}`.split(" ").filter((one) => one !== ""));
}

/** An index that is looked at. */
export type LookedAt = Readonly<{
  db: DatabaseSync;
  /** Whether nobody has used it since it was opened, or SQLite knows of those who did. */
  isUntouched: () => boolean;
}>;

/**
 * Opens the index to be looked at. Undefined when the next start builds it: there is none, or one of another version. While
 * nobody uses it, it has no WAL, and SQLite would make one: so it is told that nobody will.
 */
export function openForLook(path: string): LookedAt | undefined {
  if (!existsSync(path)) return undefined;
  const isUsed = existsSync(`${path}-wal`);
  const { href } = pathToFileURL(path);
  const before = statSync(path).mtimeMs;
  const db = new DatabaseSync(isUsed ? path : `${href}?immutable=1`, { readOnly: true });
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

/** How far an index is. */
export function readState(db: DatabaseSync): State {
  return toState(readBigInts(db, STATE).get() as StateRow);
}

function toState({ buildFrom, changes, bulkChanges, mark }: StateRow): State {
  return { buildFrom, indexed: { changes: Number(changes), bulkChanges: Number(bulkChanges) }, mark };
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

/** What FTS5 gets of a name: its words, and its place. */
function textOf(name: string, words: readonly string[]): string {
  return `${toText(words)} ${PLACES.name.start}${nameKey(name)}`;
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
