import type { PlantId } from "../../domain/plant.ts";
import { withFields } from "../../runtime/log.ts";
import type { Log } from "../../runtime/log.ts";
import { PlantStoreError } from "../../domain/errors.ts";
import type { CommitMeter } from "../commit-meter.ts";
import type { QueueLimits } from "../group-commit.ts";
import { idOf } from "../plants.ts";
import { isLocked, isSound, leftServer, GuardError, isMisplaced, judge } from "./engine/failure.ts";
import type { Health } from "./engine/health.ts";
import type { Hosts } from "./engine/hosts.ts";
import type { Database } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { PROBE_WORKER, readShards } from "./engine/shards.ts";
import type { ShardMap } from "./engine/shards.ts";
import { FIRST_PLANT } from "./plant-statements.ts";
import { PROBE_BEGIN } from "./probe.ts";
import { openServer } from "./pooled-server.ts";
import type { Server } from "./pooled-server.ts";
import { createServerPlants } from "./server-plants.ts";
import type { ServerPlants } from "./server-plants.ts";
import { openShardTables } from "./shard-tables.ts";
import { beginTransaction } from "./transaction.ts";

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
 * Where plants are: on the server that the address names or, if that has Citus, on its workers. Follows its shards. A plant
 * is asked of the worker that has its shard: there, Citus runs what concerns its own shards itself, in one commit, and
 * warns us of a commit that did not wait for its standby. While our knowledge is out of date, Citus passes statements on.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #workers = new Map<string, Worker>();
  #shards: ShardMap | undefined;
  /** The shards that were read through Citus. */
  #readThrough: ShardMap | undefined;
  #looking: Promise<void> | undefined;

  constructor(options: WorkersOptions) {
    this.#options = options;
    options.behind.watch(async ({ isWrite }) => {
      const shards = this.#shards;
      if (!shards || !(isWrite || this.#readThrough !== shards)) return undefined;
      await readThroughCitus(options.snapshots);
      this.#readThrough = shards;
      return undefined;
    });
  }

  /** The server that has this plant, or would have it. */
  of(id: PlantId): ServerPlants {
    return this.#shards ? this.#workers.get(this.#shards.workerOf(id))!.plants : this.#options.home;
  }

  all(): readonly ServerPlants[] {
    return this.#shards ? Array.from(this.#workers.values(), ({ plants }) => plants) : [this.#options.home];
  }

  areWorkers(): boolean {
    return this.#shards !== undefined;
  }

  /** Reads where the shards are now. One look at a time: the others wait for the next one, which begins behind them. */
  readonly follow = async (): Promise<void> => {
    await this.#looking?.catch(() => {});
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  };

  /** Throws why no worker takes changes. While one does, the service has work: returns what is missing, for people. */
  check(): string | undefined {
    const all = [...this.#workers.values()];
    const ill = all.filter(({ server }) => !isWell(server.health));
    if (ill.length === 0 && isWell(this.#options.behind)) return undefined;
    if (ill.length === 0)
      return "The coordinator cannot read from all database servers: lists, searches, counts, tags and exports get 503.";
    if (ill.length === all.length) ill[0]!.server.health.check();
    return `${ill.length} of ${all.length} database servers cannot be used now: requests for their plants, lists and exports get 503.`;
  }

  async close(): Promise<void> {
    const { home, behind } = this.#options;
    behind.close();
    await Promise.all([home.close(), ...Array.from(this.#workers.values(), (worker) => close(worker))]);
  }

  async #look(): Promise<void> {
    this.#update(await readShards(this.#options.execute));
  }

  #update(next: ShardMap | undefined): void {
    if (next && next.mark === this.#shards?.mark) return;
    const workers = this.#workers;
    const addresses = next?.workers ?? [];
    this.#shards = next;
    if (addresses.length !== workers.size || !addresses.every((address) => workers.has(address)))
      this.#options.log.info("workers_found", { workers: addresses });
    for (const address of addresses) if (!workers.has(address)) workers.set(address, this.#open(address));
    for (const [address, worker] of workers) {
      if (addresses.includes(address)) continue;
      workers.delete(address);
      void close(worker, leftServer());
    }
  }

  #open(address: string): Worker {
    const { hosts, limits, meter, log } = this.#options;
    const logOfWorker = withFields(log, (fields) => ({ server: address, ...fields }));
    const server = openServer({ hosts: hosts.at(address), queueWaitMs: limits.waitMs, log: logOfWorker });
    server.watch(PROBE_WORKER, { onMissing: this.follow });
    const open = openShardTables({ worker: address, shards: () => this.#shards });
    const plants = createServerPlants({ execute: server.execute, open, inFlight: IN_FLIGHT, limits, meter });
    return { server, plants: this.#followPlants(plants, server.health) };
  }

  /** The plants of a worker. What it no longer has is asked where it is now, unless part of a change may have been made before. */
  #followPlants(plants: ServerPlants, health: Health): ServerPlants {
    const ask = async <Result>(act: (server: ServerPlants) => Promise<Result>, id?: PlantId, isRepeatable = false): Promise<Result> => {
      const before = this.#shards;
      try {
        return await act(plants);
      } catch (thrown) {
        const isUnsent = thrown instanceof PlantStoreError && thrown.cause instanceof GuardError;
        if (!isUnsent && !isMisplaced(thrown)) throw thrown;
        if (this.#shards === before) await this.follow().catch(() => {});
        const hasMoved = this.#shards !== before;
        if (hasMoved && id !== undefined && (isUnsent || isRepeatable)) return act(this.of(id));
        const { error } = judge(thrown);
        if (error && !hasMoved) health.failed(error, thrown);
        throw error ?? thrown;
      }
    };
    return {
      ...plants,
      create: (plant, options) => ask((server) => server.create(plant, options), plant.id, true),
      compareAndSwap: (swap, owner) => ask((server) => server.compareAndSwap(swap, owner), idOf(swap)),
      find: (id) => ask((server) => server.find(id), id, true),
      import: (some, options) => ask((server) => server.import(some, options)),
    };
  }
}

async function close({ server, plants }: Worker, why?: PlantStoreError): Promise<void> {
  server.health.close();
  await plants.close(why);
  await server.close();
}

/**
 * Reads as an export begins: on a connection of its own, from which Citus logs in to each worker again. Others may have
 * logged in before a password changed. A lock, or a coordinator that is away, says nothing of the workers.
 */
async function readThroughCitus(database: Database): Promise<void> {
  try {
    const { execute, close: end } = await beginTransaction(database, [PROBE_BEGIN]);
    await execute(FIRST_PLANT, [], { isRepeatable: false }).finally(end);
  } catch (thrown) {
    const { cause } = thrown as Error;
    throw cause === undefined || (isSound(cause) && !isLocked(cause)) ? thrown : cause;
  }
}

function isWell(health: Health): boolean {
  try {
    health.check();
    return true;
  } catch {
    return false;
  }
}
