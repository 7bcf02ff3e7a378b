import type { Log } from "../../runtime/log.ts";
import { expectUnused } from "../contents.ts";
import type { ContentsPart, DatedPlant, Filled } from "../contents.ts";
import { EMPTY_LOG } from "./change-statements.ts";
import { listTokens, UNDATED } from "./contents.ts";
import { sqlStateOf } from "./engine/failure.ts";
import { parseHosts } from "./engine/hosts.ts";
import { openPool } from "./engine/pool.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { LOG, SCHEMA } from "./engine/schema.ts";
import { startUp } from "./engine/startup.ts";
import { searchableColumnsOf } from "./plant-columns.ts";
import { FIRST_PLANT, RESTORE_PLANTS } from "./plant-statements.ts";
import { REMOVE_TOKENS, RESTORE_TOKEN } from "./token-statements.ts";
import { valuesOf } from "./tokens.ts";
import { beginTransaction } from "./transaction.ts";

/** All of a backup or nothing: until the COMMIT, the store stays as it is. */
export const RESTORE_BEGIN = { text: "BEGIN" } as const satisfies Statement;
const COMMIT = { text: "COMMIT" } as const satisfies Statement;

/** The server ends a statement, and a transaction whose process is silent, after this, in milliseconds. */
const STATEMENT_MS_MAX = 120_000;
const OPTIONS = { statementMs: STATEMENT_MS_MAX, isRepeatable: false };

const TAKEN = "23505";

/** Puts contents into a database without a store, or with an unused one. On Citus too, it is one transaction. */
export async function restorePostgresStore(
  { url, log }: Readonly<{ url: string; log: Log }>,
  contents: AsyncIterable<ContentsPart>,
): Promise<Filled> {
  const hosts = parseHosts(url);
  const database = openPool({ hosts, connectionsMax: 1, serverMs: STATEMENT_MS_MAX });
  try {
    await startUp(database, { hosts, isNew: true, waitMs: 0, log });
    const { execute, close } = await beginTransaction(database, [RESTORE_BEGIN]);
    return await fill(execute, contents).finally(close);
  } catch (reason) {
    if (sqlStateOf(reason) !== TAKEN) throw reason;
    throw new Error("A plant or token of the backup is there already: something else writes to the store. Nothing was restored.", {
      cause: reason,
    });
  } finally {
    await database.close();
  }
}

async function fill(execute: Execute, contents: AsyncIterable<ContentsPart>): Promise<Filled> {
  // Locks a row, so that only one restore runs at a time.
  await execute(SCHEMA.probe, [], OPTIONS);
  const hasPlants = (await execute(FIRST_PLANT, [], OPTIONS)).length > 0;
  const replaced = expectUnused(await listTokens(execute), hasPlants);
  await execute(REMOVE_TOKENS, [], OPTIONS);
  // The store has a history of its own from here on: a cursor of another one is not in it.
  const [[, hasLog] = []] = await execute<[isSupported: string, isThere: string]>(LOG.find, [], OPTIONS);
  if (hasLog === "t") await execute(EMPTY_LOG, [], OPTIONS);
  for await (const { tokens, plants } of contents) {
    for (const { token, hash } of tokens) await execute(RESTORE_TOKEN, valuesOf(token, hash), OPTIONS);
    if (plants.length > 0) await execute(RESTORE_PLANTS, [...(await searchableColumnsOf(plants)), timesOf(plants)], OPTIONS);
  }
  await execute(COMMIT, [], OPTIONS);
  return { replaced };
}

function timesOf(plants: readonly DatedPlant[]): string {
  return `{${plants.map(({ added }) => added ?? UNDATED).join()}}`;
}
