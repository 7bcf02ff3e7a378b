import type { Snapshot } from "../plants.ts";
import type { Database, Statement } from "./engine/pool.ts";
import { list } from "./plant-lists.ts";
import { createPageReach } from "./page-reach.ts";
import { beginTransaction } from "./transaction.ts";

const BEGIN = { text: "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY" } as const satisfies Statement;

/**
 * The first statement, which fixes the moment. If this process stops asking, the server ends the transaction: it would
 * hold back vacuum for ever. A reader may pause for a minute.
 */
const FIX = {
  text: "SELECT set_config('idle_in_transaction_session_timeout', '3min', true)",
} as const satisfies Statement;

export const SNAPSHOT_STATEMENTS = [BEGIN, FIX] as const;

/**
 * Takes a snapshot of all plants. Another connection would see another moment. On Citus each shard has a moment of its
 * own.
 */
export async function takeSnapshot(database: Database): Promise<Snapshot> {
  const { execute, close } = await beginTransaction(database, SNAPSHOT_STATEMENTS);
  const reach = createPageReach();
  return { list: (query) => list(execute, query, reach), close };
}
