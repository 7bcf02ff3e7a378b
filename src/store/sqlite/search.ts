import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { wordsOf } from "../../words.ts";
import type { Search as Wanted } from "../../words.ts";
import type { TagCount } from "../store.ts";
import { expressionOf, PREFIX_LENGTHS } from "./expression.ts";
import { makeDurable, WAL_PAGES_MAX } from "./schema.ts";
import type { Seen } from "./writer.ts";

/** `isBehind`: another step is needed. `seen`: what the index holds for good, also after a power cut. */
export type Progress = Readonly<{ isBehind: boolean; seen: Seen }>;

/** The next page of ids to look at, at most `limit` from `from` on. */
export type FindQuery = Wanted & Readonly<{ from: bigint; limit: number }>;

/** Where a count of tags goes on: at this id of the tag, or else at the next tag. */
export type TagCursor = Readonly<{ tag: string; id?: bigint }>;

const ID_MIN = -(2n ** 63n);
const ID_MAX = 2n ** 63n - 1n;

export const FIRST_TAG: TagCursor = { tag: "", id: ID_MIN };

/** Some of the tags in their order; `next` tells where to go on, a tag that is cut in two comes again. */
export type TagStep = Readonly<{ counts: readonly TagCount[]; next: TagCursor | undefined }>;

/**
 * What takes too long for the main thread: the index of names, and the count of tags. It lives in a Worker. The index is a file of its
 * own, so that it neither waits for the commits nor they for it; it can be made anew from the plants at any time.
 */
export type Search = ReturnType<typeof openSearch>;

/** Written into the file; another number makes the index anew. */
const VERSION = 1;

/** How many plants are indexed in one commit; searches wait for no more than that. */
const STEP_PLANTS = 5000;

/** How many plants are counted in one step. */
const STEP_COUNTED = 50_000;

/** How many words, and how many tags of what length, are kept in memory as known. */
const WORDS_KNOWN_MAX = 50_000;
const TAGS_KNOWN_MAX = 1000;
const TAG_LENGTH_KNOWN_MAX = 100;

export function openSearch(plantsPath: string) {
  const path = `${plantsPath}.search`;
  const plants = new DatabaseSync(plantsPath, { readOnly: true });
  const plant = plants.prepare("SELECT name, tag FROM plants WHERE id = ?");
  const plantsFrom = readBigInts(plants, "SELECT id, name, tag FROM plants WHERE id >= ? ORDER BY id LIMIT ?");
  const change = plants.prepare("SELECT seq, ids FROM changes WHERE seq > ? ORDER BY seq LIMIT 1");
  const bulkChange = plants.prepare("SELECT seq, ids FROM bulk_changes WHERE seq > ? ORDER BY seq LIMIT 1");
  const newest = plants.prepare(
    "SELECT (SELECT coalesce(max(seq), 0) FROM changes) AS changes, (SELECT coalesce(max(seq), 0) FROM bulk_changes) AS bulkChanges",
  );
  const countInTag = readBigInts(plants, countOf("SELECT tag, id FROM plants WHERE tag = ? AND id >= ? ORDER BY id LIMIT ?"));
  const countBehindTag = readBigInts(plants, countOf("SELECT tag, id FROM plants WHERE tag > ? ORDER BY tag, id LIMIT ?"));
  let index = openIndex(path);
  let synced = NOTHING_SEEN;

  /** Puts a plant as it is now into the index, or takes it out. */
  function take(id: bigint): void {
    const row = plant.get(id) as PlantRow | undefined;
    if (row) index.put(id, row);
    else index.remove(id);
  }

  /** Indexes the plants that were there before the index was, from this id on. */
  function build(from: bigint): void {
    const rows = plantsFrom.all(from, STEP_PLANTS) as (PlantRow & { id: bigint })[];
    for (const row of rows) index.put(row.id, row);
    const last = rows.at(-1)?.id ?? ID_MAX;
    index.save({ buildFrom: rows.length < STEP_PLANTS || last === ID_MAX ? null : last + 1n });
  }

  /** Indexes what has changed since, at least STEP_PLANTS or all there is. Returns the last change. */
  function followFrom(seq: number, next: StatementSync): { seq: number; count: number } {
    let at = seq;
    let count = 0;
    while (count < STEP_PLANTS) {
      const row = next.get(at) as { seq: number; ids: Uint8Array } | undefined;
      if (!row) break;
      const ids = new BigInt64Array(row.ids.slice().buffer);
      for (const id of ids) take(id);
      count += ids.length;
      at = row.seq;
    }
    return { seq: at, count };
  }

  /** Single changes first: nobody who adds a plant waits until an import is indexed. */
  function catchUp(seen: Seen): boolean {
    const single = followFrom(seen.changes, change);
    const bulk = single.count > 0 ? { seq: seen.bulkChanges, count: 0 } : followFrom(seen.bulkChanges, bulkChange);
    index.save({ seen: { changes: single.seq, bulkChanges: bulk.seq } });
    return single.count + bulk.count > 0;
  }

  /** Whether there is more to do. */
  function follow(): boolean {
    const { buildFrom, seen } = index.state();
    if (buildFrom === null) return catchUp(seen);
    // What changes while the index is built is looked at again afterwards.
    if (buildFrom === ID_MIN) index.save({ seen: { ...(newest.get() as Seen) } });
    build(buildFrom);
    return true;
  }

  /** Reads plants as they are at one moment: to begin and end a reading for each would take longer than the reading. */
  function atOnce<Result>(work: () => Result): Result {
    plants.exec("BEGIN");
    try {
      return work();
    } finally {
      if (plants.isTransaction) plants.exec("COMMIT");
    }
  }

  /** Begins a new index in the place of a damaged one. */
  function renew(): void {
    index.close();
    removeIndex(path);
    index = openIndex(path);
    synced = NOTHING_SEEN;
  }

  return {
    /** Brings the index a step nearer to the plants. */
    step(): Progress {
      try {
        const isBehind = index.transaction(() => atOnce(follow));
        if (index.sync()) synced = index.state().seen;
        return { isBehind, seen: synced };
      } catch (reason) {
        if (!isDamage(reason)) throw reason;
        renew();
        return { isBehind: true, seen: synced };
      }
    },
    /** Ids that were found when they were indexed, in their order; undefined as long as the index is being built. */
    find({ words, tag, from, limit }: FindQuery): BigInt64Array | undefined {
      try {
        return index.state().buildFrom === null ? index.find({ words, tag, from, limit }) : undefined;
      } catch (reason) {
        if (!isDamage(reason)) throw reason;
        renew();
        return undefined;
      }
    },
    countTags({ tag, id }: TagCursor): TagStep {
      if (id === undefined) {
        const rows = countBehindTag.all(tag, STEP_COUNTED) as CountRow[];
        const last = rows.at(-1);
        return { counts: rows.map(toCount), next: last && goOn(last) };
      }
      const [rest] = countInTag.all(tag, id, STEP_COUNTED) as CountRow[];
      return { counts: rest ? [toCount(rest)] : [], next: rest?.plants === BigInt(STEP_COUNTED) ? goOn(rest) : { tag } };
    },
    close(): void {
      index.close();
      plants.close();
    },
  };
}

type PlantRow = { name: string; tag: string | null };
type CountRow = { tag: string; plants: bigint; last: bigint };
type State = { buildFrom: bigint | null; seen: Seen };

const NOTHING_SEEN: Seen = { changes: 0, bulkChanges: 0 };

function openIndex(path: string) {
  const db = openAnew(path);
  // A commit that a power cut takes away is made again from the changes, which are forgotten only after a checkpoint. What
  // is left is whole (sqlite.org/pragma.html#pragma_synchronous), so a sync for each would only keep the disk from the plants.
  db.exec("PRAGMA synchronous = NORMAL");
  const put = db.prepare("INSERT OR REPLACE INTO names (rowid, words) VALUES (?, ?)");
  const remove = db.prepare("DELETE FROM names WHERE rowid = ?");
  const addWord = db.prepare("INSERT INTO words (word) VALUES (?) ON CONFLICT DO NOTHING");
  const find = readBigInts(db, "SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid >= ? ORDER BY rowid LIMIT ?");
  const state = readBigInts(db, "SELECT build_from AS buildFrom, changes, bulk_changes AS bulkChanges FROM state");
  const saveBuild = db.prepare("UPDATE state SET build_from = ?");
  const saveSeen = db.prepare("UPDATE state SET changes = ?, bulk_changes = ?");
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
    put(id: bigint, { name, tag }: PlantRow): void {
      const words = wordsOf(name);
      for (const word of words) learn(word);
      put.run(id, tag === null ? words.join(" ") : `${words.join(" ")} ${tokenOf(tag)}`);
    },
    remove: (id: bigint) => remove.run(id),
    find({ words, tag, from, limit }: FindQuery): BigInt64Array {
      const expression = expressionOf({
        words,
        token: tag === undefined ? undefined : toToken(tag),
        wordFrom: (text) => wordFrom.get(text)?.["word"] as string | undefined,
      });
      return BigInt64Array.from(find.all(expression, from, limit) as { id: bigint }[], ({ id }) => id);
    },
    state(): State {
      const row = state.get() as { buildFrom: bigint | null; changes: bigint; bulkChanges: bigint };
      return { buildFrom: row.buildFrom, seen: { changes: Number(row.changes), bulkChanges: Number(row.bulkChanges) } };
    },
    save({ buildFrom, seen }: Partial<State>): void {
      if (buildFrom !== undefined) saveBuild.run(buildFrom);
      if (seen !== undefined) saveSeen.run(seen.changes, seen.bulkChanges);
    },
    close: () => db.close(),
  };
}

/** Opens the index, and begins a new one when there is none, or one of another version, or a damaged one. */
function openAnew(path: string): DatabaseSync {
  const found = new DatabaseSync(path);
  if (isOurs(found)) return found;
  found.close();
  removeIndex(path);
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
    CREATE TABLE state (build_from INTEGER, changes INTEGER NOT NULL, bulk_changes INTEGER NOT NULL) STRICT;
    INSERT INTO state VALUES (${ID_MIN}, 0, 0);
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

function removeIndex(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

const CORRUPT = 11;
const NOTADB = 26;

function isDamage(reason: unknown): boolean {
  const errcode = reason instanceof Error && "errcode" in reason ? Number(reason.errcode) & 0xff : 0;
  return errcode === CORRUPT || errcode === NOTADB;
}

function toToken(tag: string): string {
  return `#${hash("sha256", tag, "hex").slice(0, 16)}`;
}

function countOf(rows: string): string {
  return `SELECT tag, count(*) AS plants, max(id) AS last FROM (${rows}) GROUP BY tag ORDER BY tag`;
}

function goOn({ tag, last }: CountRow): TagCursor {
  return last === ID_MAX ? { tag } : { tag, id: last + 1n };
}

function toCount({ tag, plants }: CountRow): TagCount {
  return { tag, plants: Number(plants) };
}

function readBigInts(db: DatabaseSync, sql: string) {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
