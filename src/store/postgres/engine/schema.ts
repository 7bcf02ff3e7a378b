import { setTimeout as sleep } from "node:timers/promises";
import { isLocked, sqlStateOf } from "./failure.ts";
import { buildIndex, indexName, isCollision, isIndex } from "./index-build.ts";
import type { Migration, Run } from "./index-build.ts";
import type { Statement } from "./pool.ts";
import { UnfitError } from "./requirements.ts";

/**
 * One step for each version: a statement that may run again, and in several processes at once. Never edit a released
 * step. A row holds what its plant is found by, so that one statement writes all of it: the words that `wordsOfName`
 * returns, and the tag. Tags are indexed by 60 bits of their MD5: an index cannot hold long texts, and a short key
 * halves its size. `name_key` is what names are ordered by; replicas from before it write none. `added` is the time of
 * the create by the clock of the server, the same for all replicas; plants from before it have that of the upgrade.
 * The statistics tell the planner how many plants a tag has: it takes none from an index of a part of the plants.
 */
export const STEPS: readonly Statement[] = [
  { text: `CREATE TABLE IF NOT EXISTS store.plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT, words TSVECTOR NOT NULL)` },
  { text: `CREATE INDEX IF NOT EXISTS plants_by_tag ON store.plants (pg_catalog.left(pg_catalog.md5(tag), 15), id) WHERE tag IS NOT NULL` },
  { text: `CREATE INDEX IF NOT EXISTS plants_by_word ON store.plants USING GIN (words)` },
  {
    text: `CREATE TABLE IF NOT EXISTS store.tokens (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, scopes TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT, revoked BIGINT
    )`,
  },
  { text: `CREATE UNIQUE INDEX IF NOT EXISTS tokens_by_hash ON store.tokens (hash)` },
  { text: `ALTER TABLE store.tokens ADD COLUMN IF NOT EXISTS parent TEXT` },
  { text: `ALTER TABLE store.tokens ADD COLUMN IF NOT EXISTS used BIGINT` },
  { text: `CREATE INDEX IF NOT EXISTS tokens_by_parent ON store.tokens (parent) WHERE parent IS NOT NULL` },
  { text: `CREATE INDEX IF NOT EXISTS plants_without_tag ON store.plants (id) WHERE tag IS NULL` },
  { text: `ALTER TABLE store.plants ADD COLUMN IF NOT EXISTS name_key BYTEA` },
  { text: `ALTER TABLE store.plants ADD COLUMN IF NOT EXISTS added BIGINT DEFAULT (extract(epoch FROM now()) * 1000000)::bigint` },
  { text: `CREATE INDEX IF NOT EXISTS plants_by_name ON store.plants (name_key, id)` },
  { text: `CREATE INDEX IF NOT EXISTS plants_by_newest ON store.plants (added, id)` },
  { text: `CREATE STATISTICS IF NOT EXISTS store.plants_of_tag ON (left(md5(tag), 15)) FROM store.plants` },
];

/**
 * The log of changes, with steps of its own: a relative of PostgreSQL may have no such types. `xid` and `at` are the key of
 * a row, which holds what one statement changed: `changed` plants, with what they were before if there was something. A
 * name that is null was erased. `writers` has one element for all of them, or one for each. The first index finds the
 * history of a plant. A row that tells of no change is a mark: it keeps a place to go on from.
 */
export const LOG = {
  /** Whether the server is PostgreSQL itself, and whether the log is there. */
  find: {
    text: `SELECT left(version(), 11) = 'PostgreSQL ' AND strpos(version(), '-YB-') = 0, to_regclass('store.plant_changes') IS NOT NULL`,
  },
  make: {
    text: `CREATE TABLE IF NOT EXISTS store.plant_changes (
      xid XID8, at BIGINT, kind TEXT NOT NULL, changed BIGINT NOT NULL, ids BIGINT[] NOT NULL, names TEXT[], tags TEXT[],
      writers TEXT[] NOT NULL, import TEXT, PRIMARY KEY (xid, at)
    )`,
  },
} as const satisfies Record<string, Statement>;

const LOG_INDEXES: readonly Statement[] = [
  { text: `CREATE INDEX IF NOT EXISTS plant_changes_by_id ON store.plant_changes USING GIN (ids)` },
  { text: `CREATE INDEX IF NOT EXISTS plant_changes_by_import ON store.plant_changes (import, at, xid) WHERE import IS NOT NULL` },
  { text: `CREATE INDEX IF NOT EXISTS plant_changes_deleted ON store.plant_changes (at, xid) WHERE kind = 'deleted'` },
];

/** All steps of the log, in order. */
export const LOG_STEPS: readonly Statement[] = [LOG.make, ...LOG_INDEXES];

/**
 * How many of the steps a replica must know. More of them keep a replica of a version before from starting, so a new
 * step behind them is an index, a column or statistics, which that replica need not know: what is there tells whether
 * it was made.
 */
export const VERSION = 8;

/** Which words `wordsOfName` returns, and which key `nameKey`. Raise it when they change: then each store gets new ones (word-renewal.ts). */
export const WORDS_VERSION = 3;

/** The indexes that a store has, besides those of its keys. */
export const INDEX_NAMES = STEPS.flatMap((step) => indexName(step) ?? []);
export const LOG_INDEX_NAMES = LOG_INDEXES.flatMap((step) => indexName(step) ?? []);

/** The version of the schema, in one row, and in a second one that of the words that all plants have. */
export const SCHEMA = {
  isThere: {
    text: `SELECT to_regclass('store.plant_store_schema') IS NOT NULL, to_regclass('store.plants') IS NOT NULL OR to_regclass('store.tokens') IS NOT NULL`,
  },
  make: { text: `CREATE TABLE IF NOT EXISTS store.plant_store_schema (id BIGINT PRIMARY KEY, version BIGINT NOT NULL)` },
  begin: {
    text: `INSERT INTO store.plant_store_schema (id, version) VALUES (1, 0), (2, ${WORDS_VERSION}) ON CONFLICT (id) DO NOTHING RETURNING id`,
  },
  read: { text: `SELECT version FROM store.plant_store_schema WHERE id = 1` },
  advance: { text: `UPDATE store.plant_store_schema SET version = $2::bigint WHERE id = 1 AND version = $1::bigint` },
  areWordsNew: { text: `SELECT EXISTS (SELECT 1 FROM store.plant_store_schema WHERE id = 2 AND version >= ${WORDS_VERSION})` },
  noteWords: {
    text: `INSERT INTO store.plant_store_schema (id, version) VALUES (2, ${WORDS_VERSION}) ON CONFLICT (id) DO UPDATE SET version = excluded.version`,
  },
  /** Fails when there is no table of plants. Workers of Citus have none of the others. */
  isAllowed: {
    text: `SELECT has_table_privilege('store.plants', 'SELECT') AND has_table_privilege('store.plants', 'INSERT')
      AND has_table_privilege('store.plants', 'UPDATE') AND has_table_privilege('store.plants', 'DELETE')
      AND coalesce(has_table_privilege(to_regclass('store.tokens')::oid, 'SELECT') AND has_table_privilege(to_regclass('store.tokens')::oid, 'INSERT')
        AND has_table_privilege(to_regclass('store.tokens')::oid, 'UPDATE'), true)
      AND coalesce(has_table_privilege(to_regclass('store.plant_store_schema')::oid, 'UPDATE'), true)
      AND coalesce(has_table_privilege(to_regclass('store.plant_changes')::oid, 'SELECT') AND has_table_privilege(to_regclass('store.plant_changes')::oid, 'INSERT')
        AND has_table_privilege(to_regclass('store.plant_changes')::oid, 'UPDATE') AND has_table_privilege(to_regclass('store.plant_changes')::oid, 'DELETE'), true)`,
  },
  /** The size of the whole database, in bytes. */
  size: { text: `SELECT pg_database_size(current_database())` },
  /** Changes nothing, but shows whether the database takes writes. */
  probe: { text: `UPDATE store.plant_store_schema SET version = version WHERE id = 1` },
} as const satisfies Record<string, Statement>;

/** How often to retry when other processes create the same tables. */
const TRIES_MAX = 20;
const PAUSE_MS_MAX = 200;

/** Creates or migrates the tables, maybe in several processes at once. Throws on those of another program or a newer version. */
export async function migrate(migration: Migration): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await tryToMigrate(migration);
    } catch (thrown) {
      if (!isCollision(thrown) || tries === TRIES_MAX) throw thrown;
      await sleep(Math.random() * PAUSE_MS_MAX);
    }
  }
}

async function tryToMigrate(migration: Migration): Promise<void> {
  const { run, isNew, name, log } = migration;
  const [there] = await run<[ours: string, taken: string]>(SCHEMA.isThere);
  const [isOurs, isTaken] = there!.map((answer) => answer === "t");
  if (!isOurs && isTaken)
    throw new UnfitError("The database has tables named plants or tokens of another program: use a separate database.");
  if (!isOurs && !isNew) throw new UnfitError("There is no store in this database: name the right one with --database.");
  if (!isOurs) await run(SCHEMA.make);
  let version = await readVersion(run);
  if (version === undefined) {
    // Of several that begin at once, one has made it.
    if ((await run(SCHEMA.begin)).length > 0) log.info("store_made", { store: name });
    version = (await readVersion(run)) ?? 0;
  }
  if (version > VERSION) throw new UnfitError("The database was made by a newer Plant Store: use that version.");
  for (const [at, step] of STEPS.entries()) {
    if (isIndex(step)) await buildIndex(step, migration);
    else if (COLUMN_FORM.test(step.text)) await addColumn(step, migration);
    else if (STATISTICS_FORM.test(step.text)) await addStatistics(step, run);
    else if (at >= version) await run(step);
    if (at >= version && at < VERSION) await run(SCHEMA.advance, [at, at + 1]);
  }
  await makeLog(migration);
}

/** Even to be told that a table is there, a user would need the right to make one. */
async function makeLog(migration: Migration): Promise<void> {
  const [row] = await migration.run<[isSupported: string, isThere: string]>(LOG.find);
  const [isSupported, isThere] = row!;
  if (isSupported !== "t") return;
  if (isThere !== "t") await migration.run(LOG.make);
  for (const step of LOG_INDEXES) await buildIndex(step, migration);
}

export async function readVersion(run: Run): Promise<number | undefined> {
  const [row] = await run<[version: bigint]>(SCHEMA.read);
  return row && Number(row[0]);
}

export const COLUMN = {
  isThere: (table: string, column: string) => ({
    text: `SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('store.${table}') AND attname = '${column}' AND NOT attisdropped)`,
  }),
} as const;

const COLUMN_FORM = /^ALTER TABLE store\.(?<table>\w+) ADD COLUMN IF NOT EXISTS (?<column>\w+) /;

/** Each try keeps others waiting for as long as it waits itself, so there are few of them. In milliseconds. */
const COLUMN_PAUSE_MS = 2000;

/**
 * Adds a column unless it is there. That takes a moment, in which no one may read the table, and an export reads it for
 * up to a quarter of an hour: this waits for its end. Even to be told that the column is there, a statement would wait.
 */
async function addColumn(step: Statement, { run, log }: Migration): Promise<void> {
  const { table = "", column = "" } = COLUMN_FORM.exec(step.text)?.groups ?? {};
  while ((await run<[isThere: string]>(COLUMN.isThere(table, column)))[0]![0] !== "t") {
    try {
      await run(step);
    } catch (thrown) {
      if (!isLocked(thrown)) throw thrown;
      log.info("column_waiting", { table, column });
      await sleep(COLUMN_PAUSE_MS);
    }
  }
}

export const STATISTICS = {
  areThere: (table: string, name: string) => ({
    text: `SELECT EXISTS (SELECT 1 FROM pg_statistic_ext WHERE stxrelid = to_regclass('${table}') AND stxname = '${name}')`,
  }),
} as const;

const STATISTICS_FORM = /^CREATE STATISTICS IF NOT EXISTS store\.(?<name>\w+) ON .* FROM (?<table>store\.\w+)$/;

/**
 * Makes statistics unless they are there. Even to be told that they are, a statement would wait for a VACUUM. They only
 * make plans better, so a server that does not know them, or lets only the owner of the table make them, will do.
 */
async function addStatistics(step: Statement, run: Run): Promise<void> {
  const { table = "", name = "" } = STATISTICS_FORM.exec(step.text)?.groups ?? {};
  try {
    const [row] = await run<[areThere: string]>(STATISTICS.areThere(table, name));
    if (row?.[0] !== "t") await run(step);
  } catch (thrown) {
    if (sqlStateOf(thrown) === undefined) throw thrown;
  }
}
