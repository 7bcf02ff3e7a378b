import { look, someOf } from "../check.ts";
import type { Look } from "../check.ts";
import { queryIfSupported, CHECK_OPTIONS, isTrue } from "./check-query.ts";
import { checkIndex, COUNT_DAMAGED_PAGES, FIND_AMCHECK, IS_ORDER_OUTDATED, LIST_INDEXES } from "./check-statements.ts";
import { isDamage } from "./engine/failure.ts";
import { INDEX } from "./engine/index-build.ts";
import type { Database } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { INDEX_NAMES } from "./engine/schema.ts";
import { runUnlimited } from "./engine/startup.ts";

export async function* lookAtIndexes(database: Database, execute: Execute): AsyncGenerator<Look, void, void> {
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
  const [[damaged] = []] = (await queryIfSupported<[damaged: bigint]>(execute, COUNT_DAMAGED_PAGES)) ?? [];
  // It counts those that were mended since, too. One that cannot be read now ends the check.
  if (damaged !== undefined && damaged > 0n)
    yield look("pages", "note", `the server has found ${damaged} damaged pages: see its log. If they are mended, SELECT pg_stat_reset()`);
}

type IndexRow = [name: string, isValid: string, kind: string, id: string];

function listIndexes(execute: Execute): Promise<IndexRow[]> {
  return execute<IndexRow>(LIST_INDEXES, [], CHECK_OPTIONS);
}

/** Whether somebody, such as another replica, builds an index of our tables now. */
export async function isBuilding(execute: Execute): Promise<boolean> {
  const builds = await Promise.all(["store.plants", "store.tokens"].map((table) => queryIfSupported(execute, INDEX.progress(table))));
  return builds.some((rows) => rows !== undefined && rows.length > 0);
}

/** What a REINDEX CONCURRENTLY that was cut off leaves beside the index (its manual). */
export const LEFTOVER = /_cc(?:new|old)\d*"?$/;

export async function findLeftovers(execute: Execute): Promise<readonly string[]> {
  if (await isBuilding(execute)) return [];
  return (await listIndexes(execute)).filter(([name, isValid]) => isValid !== "t" && LEFTOVER.test(name)).map(([name]) => name);
}

/** The schema of the extension; undefined where the server cannot compare indexes. */
export async function findAmcheck(execute: Execute): Promise<string | undefined> {
  return (await queryIfSupported<[schema: string]>(execute, FIND_AMCHECK))?.[0]?.[0];
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
