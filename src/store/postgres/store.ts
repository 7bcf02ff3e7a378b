import { withFields } from "../../runtime/log.ts";
import type { Log } from "../../runtime/log.ts";
import type { Metrics } from "../../runtime/metrics.ts";
import type { CommitTracer } from "../../tracing/commit-tracer.ts";
import { POSTGRES_COMMIT_SEARCHED } from "../commit-size.ts";
import { createCommitMeter } from "../commit-meter.ts";
import { createSnapshots } from "../snapshots.ts";
import type { Store } from "../store.ts";
import { openContents } from "./contents.ts";
import { warnOfCreators } from "./creators.ts";
import { createHealth } from "./engine/health.ts";
import { parseHosts } from "./engine/hosts.ts";
import { startUp } from "./engine/startup.ts";
import { SCHEMA } from "./engine/schema.ts";
import { addPostgresGauges } from "./metrics.ts";
import { keepNameKeys } from "./name-keys.ts";
import { FIRST_PLANT } from "./plant-statements.ts";
import { openTable } from "./plant-tables.ts";
import { createPlants } from "./plants.ts";
import { probe } from "./probe.ts";
import { openServer } from "./pooled-server.ts";
import { createServerPlants } from "./server-plants.ts";
import { beginMoment, takeSnapshot } from "./snapshot.ts";
import { createTokens } from "./tokens.ts";
import { renewWords } from "./word-renewal.ts";
import { createWorkers } from "./workers.ts";

type PostgresOptions = Readonly<{
  /** A connection string, which may name several servers. */
  url: string;
  /** Wait for a database that is not up yet. Commands fail at once instead. */
  isServing: boolean;
  /** Whether to create a store if there is none. */
  isNew: boolean;
  queueMax: number;
  queueWaitMs: number;
  log: Log;
  metrics: Metrics;
  tracer?: CommitTracer | undefined;
}>;

/**
 * While one commit waits for the database, the processor is free for the next: commits in turns are faster than one for
 * all changes that wait (measured).
 */
const GATHER_TURNS = 2;
const ENOUGH = 64;

const IN_FLIGHT = { creates: 3, changes: 2, finds: 2 };

/**
 * How long a start waits for the database, in milliseconds.
 *
 * @limit PostgreSQL: wait of a start for the database
 */
const START_MS_MAX = 30_000;

/** Opens or creates the store in a PostgreSQL database. Rejects, with advice, when it cannot promise durability. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, isServing, isNew, queueMax, queueWaitMs, log, metrics, tracer } = options;
  const hosts = parseHosts(url);
  const behind = createHealth(withFields(log, (fields) => ({ server: `those behind ${hosts.name}`, ...fields })));
  const server = openServer({ hosts, queueWaitMs, log, behind });
  const { execute, health } = server;
  const now = () => performance.now();
  const limits = { gatherTurns: GATHER_TURNS, enough: ENOUGH, searchedMax: POSTGRES_COMMIT_SEARCHED, queueMax, waitMs: queueWaitMs, now };
  const meter = createCommitMeter(metrics, tracer);
  const home = createServerPlants({ execute, open: openTable, inFlight: IN_FLIGHT, limits, meter });
  const workers = createWorkers({ home, hosts, execute: execute.probes, snapshots: server.pools.snapshots, behind, limits, meter, log });
  try {
    await startUp(server.pools.lists, { hosts, isNew, waitMs: isServing ? START_MS_MAX : 0, log });
    if (isServing) await probe(server.pools.lists, { name: hosts.name, random: Math.random, log });
    if (isServing) await warnOfCreators({ execute: execute.lists, searched: hosts.schema.searched, log });
    // If it fails, statements go the longer way until the next look.
    await workers.follow().catch(() => {});
  } catch (reason) {
    await workers.close();
    await server.close();
    throw reason;
  }
  const { snapshots: database, lists: locks } = server.pools;
  const begin = () => beginMoment({ database, execute: execute.lists, locks, log, health });
  const snapshots = createSnapshots(async () => {
    // As patient as a list: a short restart refuses no export. It asks every shard, as one that is away would only break it off.
    await execute.lists(FIRST_PLANT, [], { isRepeatable: true });
    return takeSnapshot(begin);
  });
  const words = isServing ? renewWords({ execute: execute.imports, log }) : undefined;
  const nameKeys = isServing ? keepNameKeys({ execute, log, now }) : undefined;
  const { plants, queues } = createPlants({ servers: workers, execute: execute.lists, nameKeys, snapshots, now: limits.now });
  const { tokens, queue } = createTokens({ execute, limits, meter });
  addPostgresGauges(metrics, { plants, execute: execute.lists, pools: server.pools });
  const full = { ...queues, tokens: queue };
  server.watch(SCHEMA.probe, { follow: workers.follow });
  return {
    name: hosts.name,
    plants,
    tokens,
    isFull: (name, owner) => full[name].isFull(owner),
    check() {
      health.check();
      return workers.check();
    },
    contents: () => openContents(begin),
    async close() {
      health.close();
      snapshots.close();
      await Promise.all([workers.close(), queue.close(), nameKeys?.close(), words?.close()]);
      await server.close();
    },
  };
}
