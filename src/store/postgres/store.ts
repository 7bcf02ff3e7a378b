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
import { checkSettings, INSPECT } from "./engine/requirements.ts";
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
 * Connections of each pool. Reads have their own: a write may wait for a standby. Lists, counts and exports, which are
 * slow, never keep single plants and tokens waiting, nor do imports, and under any load the health is known.
 */
const WRITES_MAX = 6;
const READS_MAX = 3;
const LISTS_MAX = 6;
const IMPORTS_MAX = 2;
const PROBES_MAX = 1;

/** A snapshot keeps a connection for itself: one for each export that may run. */
const SNAPSHOTS_MAX = 8;

/** The server cancels a statement after this, in milliseconds: if this process dies, its statement would hold locks. */
const QUICK_STATEMENT_MS = 5000;
const SLOW_STATEMENT_MS = 30_000;

/**
 * How long a list or an export waits for the database, so that a short restart breaks off no export. In milliseconds.
 * Whoever waits for a count of tags gives up a little later, and learns why there is none.
 */
const LIST_PATIENCE_MS = 4500;

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
  const quick = { hosts, serverMs: QUICK_STATEMENT_MS };
  const slow = { hosts, serverMs: SLOW_STATEMENT_MS };
  const pools = {
    writes: openPool({ ...quick, connectionsMax: WRITES_MAX }),
    reads: openPool({ ...quick, connectionsMax: READS_MAX }),
    lists: openPool({ ...slow, connectionsMax: LISTS_MAX }),
    imports: openPool({ ...slow, connectionsMax: IMPORTS_MAX }),
    snapshots: openPool({ ...slow, connectionsMax: SNAPSHOTS_MAX }),
    probes: openPool({ ...quick, connectionsMax: PROBES_MAX }),
  };
  const closeAll = (): Promise<unknown> =>
    Promise.race([Promise.all(Object.values(pools).map((pool) => pool.close())), sleep(CLOSE_MS_MAX, undefined, { ref: false })]);
  try {
    await startUp(pools.lists, { name: hosts.name, waitMs: isServing ? START_MS_MAX : 0, log });
  } catch (reason) {
    await closeAll();
    throw reason;
  }
  const now = () => performance.now();
  const health = createHealth(log);
  const execute = {
    writes: withRetries({ database: pools.writes, health, patienceMs: queueWaitMs }),
    reads: withRetries({ database: pools.reads, health, patienceMs: queueWaitMs }),
    lists: withRetries({ database: pools.lists, health, patienceMs: Math.max(queueWaitMs, LIST_PATIENCE_MS) }),
    imports: withRetries({ database: pools.imports, health, patienceMs: IMPORT_PATIENCE_MS }),
    probes: withRetries({ database: pools.probes, health, patienceMs: queueWaitMs }),
  };
  const snapshots = createSnapshots(async () => {
    // As patient as a list: a short restart refuses no export.
    await execute.lists(SCHEMA.read, [], { isRepeatable: true });
    return takeSnapshot(pools.snapshots);
  });
  const limits = { gatherTurns: GATHER_TURNS, enough: ENOUGH, queueMax, waitMs: queueWaitMs, now };
  const { plants, queues, close } = createPlants({ execute, snapshots, limits });
  const { tokens, queue } = createTokens({ execute, limits });
  const full = { ...queues, tokens: queue };
  health.watch(async ({ isWrite }) => {
    const refusal = await findRefusal(execute.probes);
    if (isWrite && !refusal) await execute.probes(SCHEMA.probe, [], { isRepeatable: true });
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
