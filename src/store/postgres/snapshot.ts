import type { Snapshot } from "../plants.ts";
import { judge } from "./engine/failure.ts";
import type { Database, Statement } from "./engine/pool.ts";
import type { Execute, ExecuteOptions } from "./engine/retry.ts";
import { list } from "./plant-lists.ts";

/** The only transaction of several statements. It writes nothing. */
const BEGIN = { text: "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY" } as const satisfies Statement;

/**
 * The first statement, which fixes the moment. If this process stops asking, the server ends the transaction: it would
 * hold back vacuum for ever. A reader may pause for a minute.
 */
const FIX = {
  text: "SELECT set_config('idle_in_transaction_session_timeout', '3min', true)",
} as const satisfies Statement;

export const SNAPSHOT_STATEMENTS = [BEGIN, FIX] as const;

const CONNECT_MS_MAX = 2000;
const BEGIN_MS_MAX = 5000;

/**
 * Takes a snapshot of all plants, on a connection of its own. Nothing can be tried again: another connection would see
 * another moment. On Citus each shard has a moment of its own.
 */
export async function takeSnapshot(database: Database): Promise<Snapshot> {
  const { query, close } = await reserve(database);
  const execute: Execute = <Row extends unknown[]>(statement: Statement, values: readonly unknown[], how: ExecuteOptions) =>
    query<Row>(statement, values, how.statementMs ?? BEGIN_MS_MAX).catch(translate);
  try {
    for (const statement of SNAPSHOT_STATEMENTS) await execute(statement, [], { isRepeatable: false });
  } catch (reason) {
    close();
    throw reason;
  }
  return { list: (wanted) => list(execute, wanted), close };
}

function reserve(database: Database): ReturnType<Database["reserve"]> {
  return database.reserve(CONNECT_MS_MAX).catch(translate);
}

function translate(thrown: unknown): never {
  throw judge(thrown).error ?? thrown;
}
