import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { Store } from "../store.ts";
import { createPlants } from "./plants.ts";
import { openPool } from "./engine/pool.ts";
import { createHealth } from "./engine/health.ts";
import { parseHosts } from "./engine/hosts.ts";
import { startUp } from "./engine/startup.ts";
import { withRetries } from "./engine/retry.ts";
import type { Execute } from "./engine/retry.ts";
import { SCHEMA } from "./engine/schema.ts";
import { checkSettings, INSPECT, inspectServer } from "./engine/requirements.ts";
import type { Settings } from "./engine/requirements.ts";
import { createSnapshots } from "../snapshots.ts";
import { takeSnapshot } from "./snapshot.ts";
import { createTokens } from "./tokens.ts";

type PostgresOptions = Readonly<{
  /** A connection string, which may name several servers. */
  url: string;
  /** Wait for a database that is not up yet. Commands fail at once instead. */
  isServing: boolean;
  queueMax: number;
  queueWaitMs: number;
  log: Log;
}>;

/**
 * Connections of the two pools. Lists, counts and files use the slow one, so that they never keep single plants and
 * tokens waiting.
 */
const QUICK_MAX = 6;
const SLOW_MAX = 6;

/** A snapshot keeps a connection for itself: one for each export that may run. */
const SNAPSHOTS_MAX = 8;

/** The server cancels a statement after this, in milliseconds: if this process dies, its statement would hold locks. */
const QUICK_STATEMENT_MS = 5000;
const SLOW_STATEMENT_MS = 30_000;

/**
 * How long a list or an export waits for the database, so that a short restart breaks off no export. In milliseconds.
 */
const LIST_PATIENCE_MS = 5000;

/** How long an import waits for the database, so that a failover breaks off no file. In milliseconds. */
const IMPORT_PATIENCE_MS = 15_000;

/**
 * While one commit waits for the database, the processor is free for the next: commits in turns are faster than one for
 * all changes that wait (measured).
 */
const GATHER_TURNS = 2;
const ENOUGH = 64;

/** How long a start waits for the database, in milliseconds. */
const START_MS_MAX = 30_000;

/** How long closing waits for a hung server, in milliseconds. */
const CLOSE_MS_MAX = 1000;

/** Opens or creates the store in a PostgreSQL database. Rejects, with advice, when it cannot promise durability. */
export async function openPostgresStore({ url, isServing, queueMax, queueWaitMs, log }: PostgresOptions): Promise<Store> {
  const hosts = parseHosts(url);
  const quick = openPool({ hosts, connectionsMax: QUICK_MAX, serverMs: QUICK_STATEMENT_MS, inspect: inspectServer });
  const slow = openPool({ hosts, connectionsMax: SLOW_MAX, serverMs: SLOW_STATEMENT_MS, inspect: inspectServer });
  const reserved = openPool({ hosts, connectionsMax: SNAPSHOTS_MAX, serverMs: SLOW_STATEMENT_MS, inspect: inspectServer });
  const closeAll = (): Promise<unknown> =>
    Promise.race([Promise.all([quick.close(), slow.close(), reserved.close()]), sleep(CLOSE_MS_MAX, undefined, { ref: false })]);
  try {
    await startUp(slow, { name: hosts.name, waitMs: isServing ? START_MS_MAX : 0, log });
  } catch (reason) {
    await closeAll();
    throw reason;
  }
  const now = () => performance.now();
  const health = createHealth(log);
  const execute = withRetries({ database: quick, health, patienceMs: queueWaitMs });
  const executeSlowly = withRetries({ database: slow, health, patienceMs: Math.max(queueWaitMs, LIST_PATIENCE_MS) });
  const executeForImports = withRetries({ database: slow, health, patienceMs: IMPORT_PATIENCE_MS });
  const snapshots = createSnapshots(async () => {
    // As patient as a list: a short restart refuses no export.
    await executeSlowly(SCHEMA.read, [], { isRepeatable: true });
    return takeSnapshot(reserved);
  });
  const limits = { gatherTurns: GATHER_TURNS, enough: ENOUGH, queueMax, waitMs: queueWaitMs, now };
  const { plants, queues, close } = createPlants({ execute, executeSlowly, executeForImports, snapshots, limits });
  const { tokens, queue } = createTokens({ execute, limits });
  const full = { ...queues, tokens: queue };
  health.watch(async ({ isWrite }) => {
    const refusal = await findRefusal(execute);
    if (isWrite && !refusal) await execute(SCHEMA.probe, [], { isRepeatable: true });
    return refusal;
  });
  return {
    name: hosts.name,
    plants,
    tokens,
    isFull: (name, owner) => full[name].isFull(owner),
    check: health.check,
    async close() {
      health.close();
      snapshots.end();
      await Promise.all([close(), queue.close()]);
      await closeAll();
    },
  };
}

/** Why the server is unfit, if it is: its settings may have changed while connections were open. */
async function findRefusal(execute: Execute): Promise<PlantStoreError | undefined> {
  const [settings] = await execute<Settings>(INSPECT, [], { isRepeatable: true });
  try {
    checkSettings(settings!);
    // `checkSettings` accepts a read-only server, because it can still serve reads.
    if (settings!.at(-1) === "on") throw new Error("The database is read-only.");
    return undefined;
  } catch (cause) {
    return new PlantStoreError("store_unavailable", { cause });
  }
}
