import type { Log } from "../../log.ts";
import { describeFailure } from "../../system-failure.ts";
import { look, lookAtTokens, NAMED_MAX, someOf } from "../check.ts";
import type { CheckStep, FirstTokenFile, Look } from "../check.ts";
import { sizeOf } from "../page.ts";
import {
  CHECK_INDEX,
  COUNT_DAMAGED_PAGES,
  COUNT_SHARDS,
  FIND_WRONG,
  HAS_AMCHECK,
  HAS_UNKEYED,
  IS_ORDER_OUTDATED,
  LIST_COLUMNS,
  LIST_HOOKS,
  LIST_INDEXES,
  LIST_KEYLESS,
  MEND_WRONG,
} from "./check-statements.ts";
import { listTokenRows, walkPlants } from "./contents.ts";
import { isElsewhere, sqlStateOf } from "./engine/failure.ts";
import { parseHosts } from "./engine/hosts.ts";
import { INDEX } from "./engine/index-build.ts";
import { openPool } from "./engine/pool.ts";
import type { Database, Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { INDEX_NAMES, readVersion, SCHEMA, VERSION } from "./engine/schema.ts";
import { UnfitError } from "./engine/requirements.ts";
import { explain, runUnlimited, startUp } from "./engine/startup.ts";
import { lookAtShards } from "./shard-indexes.ts";
import { searchableColumnsOf } from "./plant-columns.ts";

const CONNECT_MS_MAX = 2000;
const STATEMENT_MS_MAX = 60_000;

/** Everything is read page by page, in no transaction: nobody waits for that, vacuum neither. */
const HOW = { statementMs: STATEMENT_MS_MAX, isRepeatable: true };

type CheckOptions = Readonly<{ url: string; firstToken: FirstTokenFile }>;

/** Looks at a store, also while services use it. It only reads. Throws if there is none, or it cannot be reached. */
export async function* checkPostgresStore({ url, firstToken }: CheckOptions): AsyncGenerator<CheckStep, void, void> {
  const { name, database, execute } = open(url);
  try {
    const tables = await lookAtTables(execute).catch((reason: unknown) => {
      throw explain(reason, name);
    });
    yield tables;
    if (tables.state !== "ok") return;
    yield* lookAtColumns(execute);
    yield* lookAtIndexes(database, execute);
    if (await isSharded(execute)) {
      if (await isBuilding(execute)) yield look("shards", "note", "an index is being built, check again after it");
      else yield* lookAtShards(database, { isComparing: await isTrue(execute, HAS_AMCHECK) });
    }
    const tokens = await listTokenRows(execute);
    yield lookAtTokens(
      tokens.map(([id, , scopes, created, expires, revoked, parent, used, hash]) => {
        return { id, hash, scopes, parent, times: [created, expires, revoked, used] };
      }),
      firstToken,
    );
    yield* lookAtRows(execute);
  } catch (reason) {
    if (isElsewhere(reason)) throw new Error(`A worker cannot be reached: ${describeFailure(reason)}`, { cause: reason });
    if (!isDamage(reason)) throw reason;
    yield look("pages", "damaged", `the server cannot read all of it: ${describeFailure(reason)}`);
  } finally {
    await database.close();
  }
}

/** Rebuilds, beside services, indexes that are missing or wrong, and the words and keys of plants. */
export async function repairPostgresStore({ url, log }: Readonly<{ url: string; log: Log }>): Promise<void> {
  const { name, database, execute } = open(url);
  try {
    // Builds what is missing or not valid, as a start does.
    await startUp(database, { name, isNew: false, waitMs: 0, log });
    for (const index of await findLeftovers(execute)) await runUnlimited(database, INDEX.drop(index));
    for (const index of (await findWrongIndexes(database, execute)) ?? []) await runUnlimited(database, INDEX.rebuild(index));
    for await (const { columns } of readPages(execute)) await execute(MEND_WRONG, columns, HOW);
  } finally {
    await database.close();
  }
}

function open(url: string) {
  const hosts = parseHosts(url);
  const database = openPool({ hosts, connectionsMax: 2, serverMs: STATEMENT_MS_MAX });
  const execute: Execute = (statement, values, { statementMs = STATEMENT_MS_MAX }) =>
    database.query(statement, values, { connectMs: CONNECT_MS_MAX, statementMs });
  return { name: hosts.name, database, execute };
}

async function lookAtTables(execute: Execute): Promise<Look> {
  const [[isOurs] = []] = await execute<[isOurs: string, isTaken: string]>(SCHEMA.isThere, [], HOW);
  if (isOurs !== "t") throw new UnfitError("There is no store in this database: name the right one with --database.");
  const version = (await readVersion((statement, values = []) => execute(statement, values, HOW))) ?? 0;
  if (version > VERSION) throw new UnfitError("The database was made by a newer Plant Store: use that version.");
  if (version === VERSION) return look("tables", "ok", `version ${version}`);
  return look("tables", "note", `version ${version}, which the next start brings up to date: check again after it`);
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
};

/** The only column with a default. */
const ADDED = "plants.added";

/** Says what somebody else has made of our tables. */
async function* lookAtColumns(execute: Execute): AsyncGenerator<Look, void, void> {
  const rows = (await askIfKnown<[name: string, type: string, hasDefault: string]>(execute, LIST_COLUMNS)) ?? [];
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
  const keyless = (await askIfKnown<[table: string]>(execute, LIST_KEYLESS)) ?? [];
  const unkeyed = keyless.map(([table]) => `${table} has no primary key: ALTER TABLE ${table} ADD PRIMARY KEY (id)`);
  const faults = [...others, ...undated, ...unkeyed];
  if (faults.length > 0) yield look("columns", "wrong", someOf(faults));
  const hooks = (await askIfKnown<[name: string]>(execute, LIST_HOOKS)) ?? [];
  if (hooks.length > 0)
    yield look("columns", "note", `constraints and triggers may refuse or change plants: ${someOf(hooks.map(([name]) => name))}`);
  if (!(await isTrue(execute, SCHEMA.isAllowed)))
    yield look("columns", "note", "this user may not change plants and tokens: a service would not be ready with it");
}

async function* lookAtIndexes(database: Database, execute: Execute): AsyncGenerator<Look, void, void> {
  const isGrowing = await isBuilding(execute);
  const rows = await listIndexes(execute);
  const missing = INDEX_NAMES.filter((name) => !rows.some(([there]) => there === name)).map((name) => `${name} is missing`);
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
  const [[damaged] = []] = (await askIfKnown<[damaged: bigint]>(execute, COUNT_DAMAGED_PAGES)) ?? [];
  // It counts those that were mended since, too. One that cannot be read now ends the check.
  if (damaged !== undefined && damaged > 0n)
    yield look("pages", "note", `the server has found ${damaged} damaged pages: see its log. If they are mended, SELECT pg_stat_reset()`);
}

/** False if the server has no Citus, or plants are not distributed. */
async function isSharded(execute: Execute): Promise<boolean> {
  const [[shards] = []] = (await askIfKnown<[shards: bigint]>(execute, COUNT_SHARDS)) ?? [];
  return shards !== undefined && shards > 0n;
}

type IndexRow = [name: string, isValid: string, kind: string];

function listIndexes(execute: Execute): Promise<IndexRow[]> {
  return execute<IndexRow>(LIST_INDEXES, [], HOW);
}

/** Whether somebody, such as another replica, builds an index of our tables now. */
async function isBuilding(execute: Execute): Promise<boolean> {
  const builds = await Promise.all(["plants", "tokens"].map((table) => askIfKnown(execute, INDEX.progress, [table])));
  return builds.some((rows) => rows !== undefined && rows.length > 0);
}

/** What a REINDEX CONCURRENTLY that was cut off leaves beside the index (its manual). */
const LEFTOVER = /_cc(?:new|old)\d*"?$/;

async function findLeftovers(execute: Execute): Promise<readonly string[]> {
  if (await isBuilding(execute)) return [];
  return (await listIndexes(execute)).filter(([name, isValid]) => isValid !== "t" && LEFTOVER.test(name)).map(([name]) => name);
}

/** Indexes that are not as their table; undefined where the server cannot compare them. */
async function findWrongIndexes(database: Database, execute: Execute): Promise<readonly string[] | undefined> {
  if (!(await isTrue(execute, HAS_AMCHECK))) return undefined;
  const wrong: string[] = [];
  for (const [name, isValid, kind] of await listIndexes(execute)) {
    if (isValid !== "t" || kind !== "btree") continue;
    try {
      await runUnlimited(database, CHECK_INDEX, [name]);
    } catch (reason) {
      if (!isDamage(reason)) throw reason;
      wrong.push(name);
    }
  }
  return wrong;
}

async function* lookAtRows(execute: Execute): AsyncGenerator<CheckStep, void, void> {
  const named: bigint[] = [];
  let wrong = 0;
  let count = 0;
  for await (const { plants, columns } of readPages(execute)) {
    const found = (await execute<[id: bigint]>(FIND_WRONG, columns, HOW)).map(([id]) => id);
    // Shards answer one after the other.
    named.push(...found.toSorted((left, right) => (left < right ? -1 : 1)).slice(0, NAMED_MAX - named.length));
    wrong += found.length;
    count += plants.length;
    yield { kind: "progress", bytes: plants.reduce((bytes, plant) => bytes + sizeOf(plant), 0) };
  }
  yield look("plants", "ok", `${count}`);
  if (wrong > 0) yield look("search", "wrong", `searches and lists have other names of these plants: ${someOf(named, wrong)}`);
  else if (await isTrue(execute, HAS_UNKEYED))
    yield look("search", "note", "some plants have no place by name yet: a running service gives them one");
  else yield look("search", "ok", "words and places of every plant are as its name");
}

/** All plants, with the columns that each should have. */
async function* readPages(execute: Execute) {
  for await (const plants of walkPlants(execute)) yield { plants, columns: await searchableColumnsOf(plants) };
}

async function isTrue(execute: Execute, statement: Statement): Promise<boolean> {
  const [[answer] = []] = (await askIfKnown<[answer: string | null]>(execute, statement)) ?? [];
  return answer === "t";
}

/** Undefined where a relative of PostgreSQL does not know what is asked. */
async function askIfKnown<Row extends unknown[]>(
  execute: Execute,
  statement: Statement,
  values: string[] = [],
): Promise<Row[] | undefined> {
  return execute<Row>(statement, values, HOW).catch((reason: unknown) => {
    if (sqlStateOf(reason)?.startsWith("42")) return undefined;
    throw reason;
  });
}

/** Data or an index that is not whole, or an error of the disk (errcodes-appendix). */
const DAMAGE: readonly (string | undefined)[] = ["XX001", "XX002", "58030"];

function isDamage(reason: unknown): boolean {
  return DAMAGE.includes(sqlStateOf(reason));
}
