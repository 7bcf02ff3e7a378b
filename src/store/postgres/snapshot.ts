import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../domain/errors.ts";
import type { Log } from "../../runtime/log.ts";
import { describeFailure } from "../../runtime/system-failure.ts";
import type { Snapshot } from "../plants.ts";
import { isElsewhere } from "./engine/failure.ts";
import type { Database, Statement } from "./engine/pool.ts";
import type { Health } from "./engine/health.ts";
import type { Execute } from "./engine/retry.ts";
import { areDistributed } from "./engine/shards.ts";
import { list, createPageReach } from "./plant-lists.ts";
import { FIRST_PLANT } from "./plant-statements.ts";
import { beginTransaction } from "./transaction.ts";
import type { Transaction } from "./transaction.ts";

const BEGIN = { text: "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY" } as const satisfies Statement;

/**
 * The first statement, which fixes the moment. If this process stops asking, the server ends the transaction: it would
 * hold back vacuum without limit. A reader may pause for a minute.
 */
const FIX = {
  text: "SELECT set_config('idle_in_transaction_session_timeout', '3min', true)",
} as const satisfies Statement;

/** Connections to workers begin with the user's limits there. Two would break off what waits for a reader. These fix no moment. */
const LIMIT_WORKERS = [
  "SET LOCAL citus.propagate_set_commands TO 'local'",
  "SET LOCAL idle_in_transaction_session_timeout TO '3min'",
  "SET LOCAL statement_timeout TO '30s'",
].map((text): Statement => ({ text }));

/** Each connection to a worker has a moment of its own, which the first statement on it fixes. */
const FIX_WORKERS = [{ text: "SELECT set_config('citus.max_adaptive_executor_pool_size', '1', true)" }, FIRST_PLANT] as const;

export const SNAPSHOT_STATEMENTS = [BEGIN, FIX] as const;

/**
 * Waits for the writes that run, for a quarter of a second on each node, and keeps others waiting, on every worker. First on
 * the coordinator alone: while someone holds a lock there, no worker waits. Only SET reaches the workers too. If this
 * process stops, the lock ends after two seconds.
 */
export const LOCK_STATEMENTS = [
  "BEGIN",
  "SET LOCAL citus.propagate_set_commands TO 'local'",
  "SET LOCAL lock_timeout TO '250ms'",
  "SET LOCAL idle_in_transaction_session_timeout TO '2s'",
  "SET LOCAL citus.enable_ddl_propagation TO off",
  "LOCK TABLE store.plants IN SHARE MODE",
  "SET LOCAL citus.enable_ddl_propagation TO on",
  "LOCK TABLE store.plants IN SHARE MODE",
].map((text): Statement => ({ text })) as [Statement, ...Statement[]];

/** Each may take the time of a new connection, and of the statements that begin. */
const BEGIN_TRIES = 3;
const LOCK_TRIES = 3;
const PAUSE_MS_MAX = 200;

/** For each statement while others wait. */
const FIX_MS_MAX = 1000;

type MomentOptions = Readonly<{
  database: Database;
  /** Asks whether Citus has the plants. */
  execute: Execute;
  /** Has a connection to spare for a lock. */
  locks: Database;
  log: Log;
  health: Pick<Health, "failed">;
}>;

/** Begins a transaction that sees one moment. Tries again if the database is full or restarts: until then nothing was read. */
export async function beginMoment(options: MomentOptions): Promise<Transaction> {
  const { database, execute, health } = options;
  for (let tries = 1; ; tries += 1) {
    // While the database is away, this waits for it.
    const areOnOthers = await areDistributed(execute);
    try {
      return await (areOnOthers ? beginEverywhere(options) : beginTransaction(database, SNAPSHOT_STATEMENTS));
    } catch (reason) {
      if (!(reason instanceof PlantStoreError) || reason.code !== "store_unavailable") throw reason;
      if (tries === BEGIN_TRIES) {
        // It has a connection of its own, so nothing else may notice.
        if (reason.cause !== undefined && !isElsewhere(reason.cause)) health.failed(reason, reason.cause);
        throw reason;
      }
    }
    await sleep(Math.random() * PAUSE_MS_MAX);
  }
}

/** Begins it on all workers of Citus at one moment. */
async function beginEverywhere({ database, locks, log }: MomentOptions): Promise<Transaction> {
  // Connected before anyone has to wait. The moment is that of the first statement.
  const transaction = await beginTransaction(database, [BEGIN, ...LIMIT_WORKERS]);
  const unlock = await lockWrites(locks, log);
  try {
    for (const statement of [FIX, ...FIX_WORKERS])
      await transaction.execute(statement, [], { statementMs: FIX_MS_MAX, isRepeatable: false });
    return transaction;
  } catch (reason) {
    transaction.close();
    throw reason;
  } finally {
    unlock();
  }
}

/**
 * Keeps everyone from writing until the function that it resolves with is called, so that the moments of all workers are
 * one. Gives up, and logs that, if something else holds a lock for long, as the move of a shard does.
 */
async function lockWrites(database: Database, log: Log): Promise<() => void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const { close } = await beginTransaction(database, LOCK_STATEMENTS);
      return close;
    } catch (reason) {
      if (tries === LOCK_TRIES) {
        log.warn("moments_differ", { reason: describeFailure(reason instanceof Error ? (reason.cause ?? reason) : reason) });
        return () => {};
      }
    }
    await sleep(Math.random() * PAUSE_MS_MAX);
  }
}

/** Takes a snapshot of all plants. `ask` asks outside of its transaction. */
export async function takeSnapshot(ask: Execute, begin: () => Promise<Transaction>): Promise<Snapshot> {
  // As patient as a list: a short restart refuses no export. It asks every shard, as one that is away would only break it off.
  await ask(FIRST_PLANT, [], { isRepeatable: true });
  const { execute, close } = await begin();
  const reach = createPageReach();
  return { list: (query) => list(execute, query, reach), close };
}
