import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Statement } from "./pool.ts";
import { UnfitError } from "./requirements.ts";

/**
 * One step a version: a statement that may be run again, and by several at once. A step is never edited once released. What a plant is found by stands in its
 * row, so that one statement writes all of it: the words as `tokenize` gives them, and 60 bits of an MD5 of the tag, as an index takes no long texts, and a short key makes it half as large.
 */
export const STEPS: readonly Statement[] = [
  { text: `CREATE TABLE IF NOT EXISTS plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT, words TSVECTOR NOT NULL)` },
  { text: `CREATE INDEX IF NOT EXISTS plants_by_tag ON plants (left(md5(tag), 15), id) WHERE tag IS NOT NULL` },
  { text: `CREATE INDEX IF NOT EXISTS plants_by_word ON plants USING GIN (words)` },
  {
    text: `CREATE TABLE IF NOT EXISTS tokens (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, scopes TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT, revoked BIGINT
    )`,
  },
  { text: `CREATE UNIQUE INDEX IF NOT EXISTS tokens_by_hash ON tokens (hash)` },
  { text: `ALTER TABLE tokens ADD COLUMN IF NOT EXISTS parent TEXT` },
  { text: `ALTER TABLE tokens ADD COLUMN IF NOT EXISTS used BIGINT` },
  { text: `CREATE INDEX IF NOT EXISTS tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL` },
];

/** The version of the schema, in one row. */
export const SCHEMA = {
  isThere: {
    text: `SELECT to_regclass('plant_store_schema') IS NOT NULL, to_regclass('plants') IS NOT NULL OR to_regclass('tokens') IS NOT NULL`,
  },
  make: { text: `CREATE TABLE IF NOT EXISTS plant_store_schema (id BIGINT PRIMARY KEY, version BIGINT NOT NULL)` },
  begin: { text: `INSERT INTO plant_store_schema (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING` },
  read: { text: `SELECT version FROM plant_store_schema WHERE id = 1` },
  advance: { text: `UPDATE plant_store_schema SET version = $2::bigint WHERE id = 1 AND version = $1::bigint` },
  /** Changes nothing: shows whether the database takes changes. */
  probe: { text: `UPDATE plant_store_schema SET version = version WHERE id = 1` },
} as const satisfies Record<string, Statement>;

export type Run = <Row extends unknown[]>(statement: Statement, values?: readonly unknown[]) => Promise<Row[]>;

/** How often others that make the same tables may be in the way. */
const TRIES_MAX = 20;
const PAUSE_MS_MAX = 200;

/** Two that make one thing at the same moment: one of them meets a key of the catalogue, an object, or a change of it. */
const COLLISIONS = ["23505", "42P07", "42710", "40001", "40P01", "55P03", "XX000"];

/** Makes the tables, or brings them to the newest version; several may do so at once. Throws when the database is not ours, or newer than this program. */
export async function migrate(run: Run): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await tryToMigrate(run);
    } catch (thrown) {
      const isCollision = thrown instanceof pg.DatabaseError && COLLISIONS.includes(thrown.code ?? "");
      if (!isCollision || tries === TRIES_MAX) throw thrown;
      await sleep(Math.random() * PAUSE_MS_MAX);
    }
  }
}

async function tryToMigrate(run: Run): Promise<void> {
  const [there] = await run<[ours: string, taken: string]>(SCHEMA.isThere);
  const [isOurs, isTaken] = there!.map((answer) => answer === "t");
  if (!isOurs && isTaken)
    throw new UnfitError("The database has tables of another program named plants or tokens: use a database of its own.");
  if (!isOurs) await run(SCHEMA.make);
  let version = await readVersion(run);
  if (version === undefined) {
    await run(SCHEMA.begin);
    version = (await readVersion(run)) ?? 0;
  }
  if (version > STEPS.length) throw new UnfitError("The database was made by a newer Plant Store: use that one.");
  for (const [at, step] of STEPS.entries()) {
    if (at < version) continue;
    await run(step);
    await run(SCHEMA.advance, [at, at + 1]);
  }
}

async function readVersion(run: Run): Promise<number | undefined> {
  const [row] = await run<[version: bigint]>(SCHEMA.read);
  return row && Number(row[0]);
}
