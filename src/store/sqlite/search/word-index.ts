import type { DatabaseSync } from "node:sqlite";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../../domain/plant.ts";
import { SEARCHED_LENGTH_MAX } from "../../../domain/terms.ts";
import type { SearchTerms } from "../../../domain/terms.ts";
import { idBehind, ORDERS } from "../../page.ts";
import type { Order, Place } from "../../page.ts";
import { prepareBigInts } from "../engine/requirements.ts";
import { WAL_PAGES_MAX } from "../engine/wal.ts";
import { expressionOf } from "./expression.ts";
import { openOrCreate, prepareStateRead } from "./index-file.ts";
import type { IndexState } from "./index-file.ts";
import type { PlantRow } from "../log-row.ts";
import { createPlantTokens, placesOf, tokenOfTag } from "./plant-tokens.ts";
import { createTagCounter } from "./tag-count.ts";
import type { TagCursor, TagStep } from "./tag-count.ts";
import { TokenWalker } from "./token-walk.ts";
import { createWordList } from "./word-list.ts";
import type { WordList } from "./word-list.ts";

/** At most `limit` ids, starting at `from`, ascending or descending. */
export type FindQuery = SearchTerms & Readonly<{ from: bigint; descending?: boolean; limit: number }>;

/** At most `limit` places in an order, behind one: of all plants, of those with a tag or, if that is null, without one. */
export type WalkQuery = Readonly<{ tag: string | null | undefined; order: Order; after: Place | undefined; limit: number }>;

/** From so many removed plants on, and such a part of all, their traces are dropped, so many pages in one go. */
const TRACES_MIN = 10_000;
const TRACES_SHARE = 8;
const MERGED_PAGES = 200;

/** What FTS5 gets of a plant. */
type Entry = Readonly<{ id: bigint; text: string }>;

/** Reading this many characters costs as much as writing one word. */
const CHARACTERS_A_WORD = 10;

/** The index, a file of its own. `isCorrupt` tells which errors call for a new one. */
export class WordIndex {
  readonly #db: DatabaseSync;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #walker: TokenWalker;
  readonly #wordList: WordList;
  readonly #countTags: ReturnType<typeof createTagCounter>;
  readonly state: () => IndexState;
  /** What the transaction will write: first what is removed, then what is added. */
  readonly #removed: Entry[] = [];
  readonly #added: Entry[] = [];
  readonly #newWords = new Set<string>();
  /** As many words as a removed name may have brought to the list: the most of a name since this start. Few from before have more than these. */
  #wordsMax = 8;
  // It remembers what was indexed, and that alone: those words and tags are in the table.
  readonly #tokens = createPlantTokens({
    word: (word) => this.#newWords.add(word),
    tag: (token, tag) => this.#wordList.addTag(token, tag),
  });

  /** How many plants were removed since the last time that their traces were dropped, and whether that goes on. */
  #traces = 0;
  #isCompacting = false;

  /** Opens the file, or creates it. */
  constructor(path: string) {
    const db = openOrCreate(path);
    // A commit lost in a power cut is repeated from the changes, which are deleted only after a checkpoint. What is left
    // is consistent (sqlite.org/pragma.html#pragma_synchronous), so a sync for each commit would only slow down the
    // commits of plants.
    db.exec("PRAGMA synchronous = NORMAL");
    this.#db = db;
    this.#sql = prepare(db);
    this.#walker = new TokenWalker(db);
    this.#wordList = createWordList(db);
    this.#countTags = createTagCounter(db);
    this.state = prepareStateRead(db);
  }

  transaction<Result>(work: () => Result): Result {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#write();
      this.#db.exec("COMMIT");
      return result;
    } catch (reason) {
      this.#tokens.forget();
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw reason;
    } finally {
      this.#removed.length = 0;
      this.#added.length = 0;
      this.#newWords.clear();
    }
  }

  /** Checkpoints once the WAL has so many pages. False when it did nothing. */
  sync(pagesMin = WAL_PAGES_MAX): boolean {
    if (Number(this.#sql.walPages.get()?.["log"]) < pagesMin) return false;
    this.#db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    return true;
  }

  /** Adds a plant. Returns the work, in words. */
  put(plant: PlantRow): number {
    return this.#note(plant, this.#added);
  }

  /**
   * Removes a plant as it was before a change; it is then as `put` says, or gone. It may have been indexed as it is now
   * already: to remove what is not there changes nothing. Returns the work, in words.
   */
  remove(before: PlantRow): number {
    return this.#note(before, this.#removed);
  }

  /** Forgets some words that are in no name any more, within a transaction. False if there is nothing to look at. */
  forgetWords(): boolean {
    const { lookedAt, forgotten } = this.#wordList.forgetUnused();
    // What is remembered of names counts on all words that are listed.
    if (forgotten > 0) this.#tokens.forget();
    return lookedAt > 0;
  }

  /**
   * Drops some of the traces of removed plants, within a transaction: a search would walk through them. FTS5 drops them when
   * it merges what is older. False if there are few, of so many plants.
   */
  compact(plants: number): boolean {
    if (!this.#isCompacting && this.#traces < Math.max(TRACES_MIN, plants / TRACES_SHARE)) return false;
    const countChanges = () => Number(this.#sql.changes.get()!["changes"]);
    const before = countChanges();
    // The first call, below zero, makes it one merge of all (sqlite.org/fts5.html#the_merge_command).
    this.#sql.merge.run(this.#isCompacting ? MERGED_PAGES : -MERGED_PAGES);
    if (!this.#isCompacting) this.#traces = 0;
    this.#isCompacting = countChanges() - before >= 2;
    return true;
  }

  find({ words, tag, ...range }: FindQuery): BigInt64Array {
    const token = tag === undefined ? undefined : tokenOfTag(tag);
    return BigInt64Array.from(this.#findIds(expressionOf({ words, token, wordFrom: this.#wordList.from }), range));
  }

  /** Counts some plants with their tags: see `createTagCounter`. */
  countTags(cursor: TagCursor): TagStep {
    return this.#countTags(cursor);
  }

  /** Counts the plants of a tag, or those without, up to `max`. */
  countOfTag(tag: string | null, max: number): number {
    return Number(this.#sql.count.get(`"${tokenOfTag(tag)}"`, max)?.["plants"]);
  }

  /** The next places in an order. A plant may have changed since. */
  walk({ tag, order, after, limit }: WalkQuery): Place[] {
    const { by, ascending } = ORDERS[order];
    const { start, end, toToken, toKey } = placesOf(tag, by);
    const places: Place[] = [];
    const addAll = (token: string, ids: readonly bigint[]) => {
      for (const id of ids) places.push({ key: toKey(token), id: asPlantId(id) });
    };
    /** Those of a token from an id on, in the direction of the order, as far as there is room. */
    const idsFrom = (token: string, from: bigint) =>
      this.#findIds(`"${token}"`, { from, descending: !ascending, limit: limit - places.length });

    const last = after && toToken(after.key);
    const next = after && idBehind({ after: after.id, descending: !ascending });
    if (last !== undefined && next !== undefined) addAll(last, idsFrom(last, next));
    if (places.length === limit) return places;
    // A later time has a lower token.
    const isUp = by === "name" ? ascending : !ascending;
    for (const { token, ids, isCut } of this.#walker.walk({ start, end, after: last, isUp, limit: limit - places.length })) {
      const room = limit - places.length;
      if (isCut && !(ascending && ids.length >= room)) addAll(token, idsFrom(token, ascending ? PLANT_ID_MIN : PLANT_ID_MAX));
      else addAll(token, (ascending ? ids : ids.toReversed()).slice(0, room));
      if (places.length === limit) break;
    }
    return places;
  }

  save({ buildFrom, indexed, mark = "" }: Partial<IndexState>): void {
    if (buildFrom !== undefined) this.#sql.saveBuild.run(buildFrom);
    if (indexed !== undefined) this.#sql.saveIndexed.run(indexed, mark);
  }

  /** Brings all of it to the disk. False if a reader keeps it from that. */
  syncAll(): boolean {
    return this.#db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] === 0;
  }

  close(): void {
    this.#db.close();
  }

  #note({ id, name, tag, added }: PlantRow, entries: Entry[]): number {
    const { text, count } = this.#tokens.of({ name, tag, added });
    entries.push({ id, text });
    this.#wordsMax = Math.max(this.#wordsMax, count);
    return count + (searchedLength(name) + searchedLength(tag ?? "")) / CHARACTERS_A_WORD;
  }

  /** Writes the plants of a transaction in the order of their ids: FTS5 begins a new segment at each lower id. */
  #write(): void {
    const removed = this.#removed.length;
    if (removed > 0) this.#sql.remove.run(toObject(inOrder(this.#removed)));
    // A plant that changed more than once is the same each time.
    if (this.#added.length > 0) this.#sql.add.run(toObject(inOrder(this.#added).filter(({ id }, at, all) => id !== all[at + 1]?.id)));
    if (this.#newWords.size > 0) this.#wordList.add([...this.#newWords].toSorted());
    this.#traces += removed;
    // And its tag.
    this.#wordList.removed(removed, this.#wordsMax + 1);
  }

  #findIds(expression: string, { from, descending = false, limit }: Omit<FindQuery, keyof SearchTerms>): readonly bigint[] {
    const rows = this.#sql[descending ? "descending" : "ascending"].all(expression, from, limit) as { id: bigint }[];
    return rows.map(({ id }) => id);
  }
}

function prepare(db: DatabaseSync) {
  return {
    // FTS5 deletes what it is told was there (sqlite.org/fts5.html#the_delete_command).
    remove: db.prepare("INSERT INTO names (names, rowid, words) SELECT 'delete', CAST(key AS INTEGER), value FROM json_each(?)"),
    add: db.prepare("INSERT INTO names (rowid, words) SELECT CAST(key AS INTEGER), value FROM json_each(?)"),
    ascending: prepareBigInts(db, "SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid >= ? ORDER BY rowid LIMIT ?"),
    descending: prepareBigInts(db, "SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?"),
    count: db.prepare("SELECT count(*) AS plants FROM (SELECT 1 FROM names WHERE names MATCH ? LIMIT ?)"),
    merge: db.prepare("INSERT INTO names (names, rank) VALUES ('merge', ?)"),
    changes: db.prepare("SELECT total_changes() AS changes"),
    saveBuild: db.prepare("UPDATE state SET build_from = ?"),
    saveIndexed: db.prepare("UPDATE state SET changes = ?, mark = ?"),
    walPages: db.prepare("PRAGMA wal_checkpoint(NOOP)"),
  };
}

/** Usually they are already, and to see that costs less than to sort them. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const isInOrder = entries.every(({ id }, at) => at === 0 || entries[at - 1]!.id <= id);
  return isInOrder ? entries : entries.toSorted((left, right) => (left.id < right.id ? -1 : left.id > right.id ? 1 : 0));
}

/** A JSON object. Words and tokens need no escapes. */
function toObject(entries: readonly Entry[]): string {
  return `{${entries.map(({ id, text }) => `"${id}":"${text}"`).join()}}`;
}

function searchedLength({ length }: string): number {
  return Math.min(length, SEARCHED_LENGTH_MAX);
}
