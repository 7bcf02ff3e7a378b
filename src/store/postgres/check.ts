import type { Log } from "../../runtime/log.ts";
import { describeFailure } from "../../runtime/system-failure.ts";
import { look, lookAtTokens, NAMED_MAX, someOf } from "../check.ts";
import type { CheckStep, FirstTokenFile, Look } from "../check.ts";
import { sizeOf } from "../page.ts";
import { COUNT_SHARDS, FIND_WRONG, HAS_UNKEYED, MEND_WRONG } from "./check-statements.ts";
import { listTokenRows, walkPlants } from "./contents.ts";
import { isDamage, isElsewhere } from "./engine/failure.ts";
import { parseHosts } from "./engine/hosts.ts";
import { INDEX } from "./engine/index-build.ts";
import { SERVER_MS_MAX, openPool } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { checkStandbys } from "./engine/promotion.ts";
import { readVersion, SCHEMA, VERSION } from "./engine/schema.ts";
import { UnfitError } from "./engine/requirements.ts";
import { explain, runUnlimited, startUp } from "./engine/startup.ts";
import {
  findAmcheck,
  findLeftovers,
  findWrongIndexes,
  isBuilding,
  lookAtIndexes,
  lookAtColumns,
  queryIfSupported,
  CHECK_OPTIONS,
  isTrue,
  STATEMENT_MS_MAX,
} from "./table-check.ts";
import { lookAtShards } from "./shard-indexes.ts";
import { searchableColumnsOf } from "./plant-columns.ts";

type CheckOptions = Readonly<{ url: string; firstToken: FirstTokenFile }>;

/** Looks at a store, also while services use it. It only reads. Throws if there is none, or it cannot be reached. */
export async function* checkPostgresStore({ url, firstToken }: CheckOptions): AsyncGenerator<CheckStep, void, void> {
  const { hosts, database, execute } = open(url);
  try {
    await checkStandbys(hosts);
    const tables = await lookAtTables(execute).catch((reason: unknown) => {
      throw explain(reason, hosts.name);
    });
    yield tables;
    if (tables.state !== "ok") return;
    yield* lookAtColumns(execute);
    yield* lookAtIndexes(database, execute);
    if (await isSharded(execute)) {
      if (await isBuilding(execute)) yield look("shards", "note", "an index is being built, check again after it");
      else yield* lookAtShards(database, { amcheck: await findAmcheck(execute) });
    }
    yield lookAtTokens(await listTokenRows(execute), firstToken);
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
  const { hosts, database, execute } = open(url);
  try {
    // Builds what is missing or not valid, as a start does.
    await startUp(database, { hosts, isNew: false, waitMs: 0, log });
    for (const index of await findLeftovers(execute)) await runUnlimited(database, INDEX.drop(index));
    for (const index of (await findWrongIndexes(database, execute)) ?? []) await runUnlimited(database, INDEX.rebuild(index));
    for await (const { columns } of readPages(execute)) await execute(MEND_WRONG, columns, CHECK_OPTIONS);
  } finally {
    await database.close();
  }
}

function open(url: string) {
  const hosts = parseHosts(url);
  const database = openPool({ hosts, connectionsMax: 2, serverMs: STATEMENT_MS_MAX });
  const limits = { connectMs: SERVER_MS_MAX * hosts.count, serversMax: hosts.count };
  const execute: Execute = (statement, values, { statementMs = STATEMENT_MS_MAX }) =>
    database.query(statement, values, { ...limits, statementMs });
  return { hosts, database, execute };
}

async function lookAtTables(execute: Execute): Promise<Look> {
  const [[isOurs] = []] = await execute<[isOurs: string, isTaken: string]>(SCHEMA.isThere, [], CHECK_OPTIONS);
  if (isOurs !== "t") throw new UnfitError("There is no store in this database: name the right one with --database.");
  const version = (await readVersion((statement, values = []) => execute(statement, values, CHECK_OPTIONS))) ?? 0;
  if (version > VERSION) throw new UnfitError("The database was made by a newer Plant Store: use that version.");
  if (version === VERSION) return look("tables", "ok", `version ${version}`);
  return look("tables", "note", `version ${version}, which the next start brings up to date: check again after it`);
}

/** False if the server has no Citus, or plants are not distributed. */
async function isSharded(execute: Execute): Promise<boolean> {
  const [[shards] = []] = await queryIfSupported<[shards: bigint]>(execute, COUNT_SHARDS);
  return shards !== undefined && shards > 0n;
}

async function* lookAtRows(execute: Execute): AsyncGenerator<CheckStep, void, void> {
  // Asked before the plants are read: what is renewed meanwhile was not wrong.
  const areWordsNew = await isTrue(execute, SCHEMA.areWordsNew);
  const named: bigint[] = [];
  let wrong = 0;
  let count = 0;
  for await (const { plants, columns } of readPages(execute)) {
    const found = (await execute<[id: bigint]>(FIND_WRONG, columns, CHECK_OPTIONS)).map(([id]) => id);
    // Shards answer one after the other.
    named.push(...found.toSorted((left, right) => (left < right ? -1 : 1)).slice(0, NAMED_MAX - named.length));
    wrong += found.length;
    count += plants.length;
    yield { kind: "progress", bytes: plants.reduce((bytes, plant) => bytes + sizeOf(plant), 0) };
  }
  yield look("plants", "ok", `${count}`);
  if (wrong > 0 && !areWordsNew)
    yield look("search", "note", `plants with words of an older version: ${wrong}. A running service renews them: check again after it`);
  else if (wrong > 0) yield look("search", "wrong", `searches and lists have other names of these plants: ${someOf(named, wrong)}`);
  else if (await isTrue(execute, HAS_UNKEYED))
    yield look("search", "note", "some plants have no place by name yet: a running service gives them one");
  else yield look("search", "ok", "words and places of every plant are as its name");
}

/** All plants, with the columns that each should have. */
async function* readPages(execute: Execute) {
  for await (const plants of walkPlants(execute)) yield { plants, columns: await searchableColumnsOf(plants) };
}
