import { look, someOf } from "../check.ts";
import type { Look } from "../check.ts";
import {
  checkIndex,
  COUNT_DAMAGED_PAGES,
  FIND_AMCHECK,
  IS_ORDER_OUTDATED,
  LIST_INDEXES,
  LIST_COLUMNS,
  LIST_HOOKS,
  LIST_KEYLESS,
} from "./check-statements.ts";
import { isDamage, sqlStateOf } from "./engine/failure.ts";
import { INDEX } from "./engine/index-build.ts";
import type { Database, Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { INDEX_NAMES, LOG_INDEX_NAMES, SCHEMA } from "./engine/schema.ts";
import { runUnlimited } from "./engine/startup.ts";

/** In milliseconds. */
export const STATEMENT_MS_MAX = 60_000;

/** Everything is read page by page, in no transaction: no one waits for that, vacuum neither. */
export const CHECK_OPTIONS = { statementMs: STATEMENT_MS_MAX, isRepeatable: true };

/** False also where a PostgreSQL-compatible database does not support the query. */
export async function isTrue(execute: Execute, statement: Statement): Promise<boolean> {
  const [[answer] = []] = await queryIfSupported<[answer: string | null]>(execute, statement);
  return answer === "t";
}

/** Without rows where a PostgreSQL-compatible database does not support the query. */
export async function queryIfSupported<Row extends unknown[]>(execute: Execute, statement: Statement): Promise<Row[]> {
  return execute<Row>(statement, [], CHECK_OPTIONS).catch((reason: unknown) => {
    if (sqlStateOf(reason)?.startsWith("42")) return [];
    throw reason;
  });
}

export async function* lookAtIndexes(database: Database, execute: Execute): AsyncGenerator<Look, void, void> {
  const isGrowing = await isBuilding(execute);
  const rows = await listIndexes(execute);
  const hasLog = rows.some(([name]) => name.startsWith("plant_changes"));
  const missing = [...INDEX_NAMES, ...(hasLog ? LOG_INDEX_NAMES : [])]
    .filter((name) => !rows.some(([there]) => there === name))
    .map((name) => `${name} is missing`);
  const unready = [...missing, ...rows.filter(([, isValid]) => isValid !== "t").map(([name]) => `${name} is not valid`)];
  if (isGrowing && unready.length > 0) yield look("indexes", "note", `one is being built, check again after it: ${someOf(unready)}`);
  const different = await findWrongIndexes(database, execute);
  const faults = [...(isGrowing ? [] : unready), ...(different ?? []).map((name) => `${name} is not as its table`)];
  if (faults.length > 0) yield look("indexes", "wrong", someOf(faults));
  else if (different) yield look("indexes", "ok", `${rows.length}, those of a B-tree compared with their tables`);
  else yield look("indexes", "ok", `${rows.length} are there. After CREATE EXTENSION amcheck they are compared with their tables too`);
  if (await isTrue(execute, IS_ORDER_OUTDATED))
    yield look(
      "indexes",
      "note",
      "the system orders text in another way than before: REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION",
    );
  const [[damaged] = []] = await queryIfSupported<[damaged: bigint]>(execute, COUNT_DAMAGED_PAGES);
  // It counts those that were mended since, too. One that cannot be read now ends the check.
  if (damaged !== undefined && damaged > 0n)
    yield look("pages", "note", `the server has found ${damaged} damaged pages: see its log. If they are mended, SELECT pg_stat_reset()`);
}

type IndexRow = [name: string, isValid: string, kind: string, id: string];

function listIndexes(execute: Execute): Promise<IndexRow[]> {
  return execute<IndexRow>(LIST_INDEXES, [], CHECK_OPTIONS);
}

/** Whether someone, such as another replica, builds an index of our tables now. */
export async function isBuilding(execute: Execute): Promise<boolean> {
  const builds = await Promise.all(
    ["store.plants", "store.tokens", "store.plant_changes"].map((table) => queryIfSupported(execute, INDEX.progress(table))),
  );
  return builds.some((rows) => rows.length > 0);
}

/** What a REINDEX CONCURRENTLY that was cut off leaves beside the index (its manual). */
export const LEFTOVER = /_cc(?:new|old)\d*"?$/;

export async function findLeftovers(execute: Execute): Promise<readonly string[]> {
  if (await isBuilding(execute)) return [];
  return (await listIndexes(execute)).filter(([name, isValid]) => isValid !== "t" && LEFTOVER.test(name)).map(([name]) => name);
}

/** The schema of the extension; undefined where the server cannot compare indexes. */
export async function findAmcheck(execute: Execute): Promise<string | undefined> {
  return (await queryIfSupported<[schema: string]>(execute, FIND_AMCHECK))[0]?.[0];
}

/** Indexes that are not as their table; undefined where the server cannot compare them. */
export async function findWrongIndexes(database: Database, execute: Execute): Promise<readonly string[] | undefined> {
  const amcheck = await findAmcheck(execute);
  if (amcheck === undefined) return undefined;
  const wrong: string[] = [];
  for (const [name, isValid, kind, id] of await listIndexes(execute)) {
    if (isValid !== "t" || kind !== "btree") continue;
    try {
      await runUnlimited(database, checkIndex(amcheck), [id]);
    } catch (reason) {
      if (!isDamage(reason)) throw reason;
      wrong.push(name);
    }
  }
  return wrong;
}

/** The columns that a store has. */
const COLUMN_TYPES: Readonly<Record<string, string>> = {
  "plants.id": "bigint",
  "plants.name": "text",
  "plants.tag": "text",
  "plants.words": "tsvector",
  "plants.name_key": "bytea",
  "plants.added": "bigint",
  "tokens.id": "text",
  "tokens.name": "text",
  "tokens.hash": "text",
  "tokens.scopes": "text",
  "tokens.created": "bigint",
  "tokens.expires": "bigint",
  "tokens.revoked": "bigint",
  "tokens.parent": "text",
  "tokens.used": "bigint",
  "plant_changes.xid": "xid8",
  "plant_changes.at": "bigint",
  "plant_changes.kind": "text",
  "plant_changes.changed": "bigint",
  "plant_changes.ids": "bigint[]",
  "plant_changes.names": "text[]",
  "plant_changes.tags": "text[]",
  "plant_changes.writers": "text[]",
  "plant_changes.import": "text",
};

/** The only column with a default. */
const ADDED = "plants.added";

/** Says what someone else has made of our tables. */
export async function* lookAtColumns(execute: Execute): AsyncGenerator<Look, void, void> {
  const rows = await queryIfSupported<[name: string, type: string, hasDefault: string]>(execute, LIST_COLUMNS);
  const types = new Map(rows.map(([name, type]) => [name, type]));
  const others = Object.entries(COLUMN_TYPES).flatMap(([name, type]) => {
    const [table, column] = name.split(".");
    const is = types.get(name);
    return is === undefined || is === type ? [] : [`${name} is ${is}: ALTER TABLE ${table} ALTER ${column} TYPE ${type}`];
  });
  const isUndated = rows.some(([name, , hasDefault]) => name === ADDED && hasDefault !== "t");
  const undated = isUndated
    ? [`${ADDED} has no default: ALTER TABLE plants ALTER added SET DEFAULT (extract(epoch FROM now()) * 1000000)::bigint`]
    : [];
  const keyless = await queryIfSupported<[table: string]>(execute, LIST_KEYLESS);
  const unkeyed = keyless.map(
    ([table]) => `${table} has no primary key: ALTER TABLE ${table} ADD PRIMARY KEY (${table === "plant_changes" ? "xid, at" : "id"})`,
  );
  const faults = [...others, ...undated, ...unkeyed];
  if (faults.length > 0) yield look("columns", "wrong", someOf(faults));
  const hooks = await queryIfSupported<[name: string]>(execute, LIST_HOOKS);
  if (hooks.length > 0)
    yield look("columns", "note", `constraints and triggers may refuse or change plants: ${someOf(hooks.map(([name]) => name))}`);
  if (!(await isTrue(execute, SCHEMA.isAllowed)))
    yield look("columns", "note", "this user may not change plants and tokens: a service would not be ready with it");
}
