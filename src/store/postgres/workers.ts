import type { PlantStoreError } from "../../domain/errors.ts";
import type { PlantId } from "../../domain/plant.ts";
import { withFields } from "../../runtime/log.ts";
import type { Log } from "../../runtime/log.ts";
import type { CommitMeter } from "../commit-meter.ts";
import type { QueueLimits } from "../group-commit.ts";
import { isLocked, isSound, leftServer } from "./engine/failure.ts";
import type { Health } from "./engine/health.ts";
import type { Hosts } from "./engine/hosts.ts";
import type { Database } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { PROBE_WORKER, readShards } from "./engine/shards.ts";
import type { ShardMap } from "./engine/shards.ts";
import { followPlants } from "./moving-plants.ts";
import { FIRST_PLANT } from "./plant-statements.ts";
import type { Servers } from "./plants.ts";
import { PROBE_BEGIN } from "./probe.ts";
import { openServer } from "./pooled-server.ts";
import type { Server } from "./pooled-server.ts";
import { createServerPlants } from "./server-plants.ts";
import type { ServerPlants } from "./server-plants.ts";
import { openShardTables } from "./shard-tables.ts";
import { beginTransaction } from "./transaction.ts";

/** Where plants are: on the server that the address names or, if that has Citus, on its workers. */
export type Workers = Servers &
  Readonly<{
    /** Reads where the shards are now. */
    follow(): Promise<void>;
    /** Throws why no worker takes changes. While one does, the service has work: returns what is missing, for people. */
    check(): string | undefined;
    close(): Promise<void>;
  }>;

type WorkersOptions = Readonly<{
  /** The plants of the server that the address names, and how to ask it. */
  home: ServerPlants;
  hosts: Hosts;
  execute: Execute;
  /** Has a connection to spare for a look through Citus, whose health is `behind`. */
  snapshots: Database;
  behind: Health;
  limits: QueueLimits;
  meter: CommitMeter;
  log: Log;
}>;

/** Fewer than for one table: each statement is on all shards of the worker, so many plants together cost less. */
const IN_FLIGHT = { creates: 2, changes: 1, finds: 1 };

type Worker = Readonly<{ server: Server; plants: ServerPlants }>;

/**
 * Follows the shards of Citus. A plant is asked of the worker that has its shard: there, Citus runs what concerns its
 * own shards itself, in one commit, and warns us of a commit that did not wait for its standby. While our knowledge is
 * out of date, Citus passes statements on.
 */
export function createWorkers({ home, hosts, execute, snapshots, behind, limits, meter, log }: WorkersOptions): Workers {
  let shards: ShardMap | undefined;
  const workers = new Map<string, Worker>();

  function open(address: string): Worker {
    const logOfWorker = withFields(log, (fields) => ({ server: address, ...fields }));
    const server = openServer({ hosts: hosts.at(address), queueWaitMs: limits.waitMs, log: logOfWorker });
    const tables = openShardTables({ worker: address, shards: () => shards });
    server.watch(PROBE_WORKER, { onMissing: follow });
    const plants = createServerPlants({ execute: server.execute, open: tables, inFlight: IN_FLIGHT, limits, meter });
    return { server, plants: followPlants({ plants, health: server.health, of, map: () => shards, follow }) };
  }

  async function close({ server, plants }: Worker, why?: PlantStoreError): Promise<void> {
    server.health.close();
    await plants.close(why);
    await server.close();
  }

  function update(next: ShardMap | undefined): void {
    if (next && next.mark === shards?.mark) return;
    shards = next;
    const addresses = next?.workers ?? [];
    if (addresses.length !== workers.size || !addresses.every((address) => workers.has(address)))
      log.info("workers_found", { workers: addresses });
    for (const address of addresses) if (!workers.has(address)) workers.set(address, open(address));
    for (const [address, worker] of workers) {
      if (addresses.includes(address)) continue;
      workers.delete(address);
      void close(worker, leftServer());
    }
  }

  function of(id: PlantId): ServerPlants {
    return shards ? workers.get(shards.workerOf(id))!.plants : home;
  }

  let looking: Promise<void> | undefined;
  /** One look at a time: the others wait for the next one, which begins behind them. */
  async function follow(): Promise<void> {
    await looking?.catch(() => {});
    looking ??= look().finally(() => (looking = undefined));
    return looking;
  }

  async function look(): Promise<void> {
    update(await readShards((statement, values) => execute(statement, values, { isRepeatable: true })));
  }

  /**
   * Reads as an export begins: on a connection of its own, from which Citus logs in to each worker again. Others may have
   * logged in before a password changed. A lock, or a coordinator that is away, says nothing of the workers.
   */
  async function readThroughCitus(): Promise<void> {
    try {
      const { execute: read, close: end } = await beginTransaction(snapshots, [PROBE_BEGIN]);
      await read(FIRST_PLANT, [], { isRepeatable: false }).finally(end);
    } catch (thrown) {
      const { cause } = thrown as Error;
      throw cause === undefined || (isSound(cause) && !isLocked(cause)) ? thrown : cause;
    }
  }

  let readThrough: ShardMap | undefined;
  behind.watch(async ({ isWrite }) => {
    if (!shards || !(isWrite || readThrough !== shards)) return undefined;
    await readThroughCitus();
    readThrough = shards;
    return undefined;
  });

  return {
    of,
    all: () => (shards ? Array.from(workers.values(), ({ plants }) => plants) : [home]),
    areWorkers: () => shards !== undefined,
    follow,
    check() {
      const all = [...workers.values()];
      const ill = all.filter(({ server }) => !isWell(server.health));
      if (ill.length === 0 && isWell(behind)) return undefined;
      if (ill.length === 0)
        return "The coordinator cannot read from all database servers: lists, searches, counts, tags and exports get 503.";
      if (ill.length === all.length) ill[0]!.server.health.check();
      return `${ill.length} of ${all.length} database servers cannot be used now: requests for their plants, lists and exports get 503.`;
    },
    async close() {
      behind.close();
      await Promise.all([home.close(), ...Array.from(workers.values(), (worker) => close(worker))]);
    },
  };
}

function isWell(health: Health): boolean {
  try {
    health.check();
    return true;
  } catch {
    return false;
  }
}
