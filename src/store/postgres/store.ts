import { withFields } from "../../runtime/log.ts";
import { POSTGRES_COMMIT_SEARCHED } from "../commit-size.ts";
import { createCommitMeter } from "../commit-meter.ts";
import { createSnapshots } from "../snapshots.ts";
import type { OpenOptions, Store } from "../store.ts";
import { ChangeLog } from "./change-log.ts";
import { sweepChanges } from "./change-sweep.ts";
import { openContents } from "./contents.ts";
import { Health } from "./engine/health.ts";
import { parseHosts } from "./engine/hosts.ts";
import type { Hosts } from "./engine/hosts.ts";
import { startUp } from "./engine/startup.ts";
import { SCHEMA } from "./engine/schema.ts";
import { createHistory } from "./history.ts";
import { addPostgresGauges } from "./metrics.ts";
import { NameKeys } from "./name-keys.ts";
import { openLoggedTable } from "./plant-tables.ts";
import { createPlants } from "./plants.ts";
import { probe } from "./probe.ts";
import { openServer } from "./pooled-server.ts";
import type { Server } from "./pooled-server.ts";
import { createServerPlants } from "./server-plants.ts";
import { beginMoment, takeSnapshot } from "./snapshot.ts";
import { createTokens } from "./tokens.ts";
import { warnOfCreators } from "./warnings.ts";
import { renewWords } from "./word-renewal.ts";
import { Workers } from "./workers.ts";

/** `isServing`: wait for a database that is not up yet. Commands fail at once instead. */
type PostgresOptions = OpenOptions &
  Readonly<{
    /** A connection string, which may name several servers. */
    url: string;
    /** Whether to create a store if there is none. */
    isNew: boolean;
  }>;

/** The processor is free while a commit waits for the database: commits in turns are faster than one for all (measured). */
const GATHER_TURNS = 2;
const ENOUGH = 64;

const IN_FLIGHT = { creates: 3, changes: 2, finds: 2 };

/** @limit PostgreSQL: wait of a start for the database */
const START_MS_MAX = 30_000;

/** Opens or creates the store in a PostgreSQL database. Rejects, with advice, when it cannot promise durability. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, isServing, queueMax, queueWaitMs, log, metrics, tracer } = options;
  const hosts = parseHosts(url);
  const behind = new Health(withFields(log, (fields) => ({ server: `those behind ${hosts.name}`, ...fields })));
  const server = openServer({ hosts, queueWaitMs, log, behind });
  const { execute, health } = server;
  const now = () => performance.now();
  const limits = { gatherTurns: GATHER_TURNS, enough: ENOUGH, searchedMax: POSTGRES_COMMIT_SEARCHED, queueMax, waitMs: queueWaitMs, now };
  const meter = createCommitMeter(metrics, tracer);
  const changes = new ChangeLog({ execute: execute.reads, probe: execute.probes, log });
  const home = createServerPlants({ execute, open: openLoggedTable(changes.isWritten), inFlight: IN_FLIGHT, limits, meter });
  const workers = new Workers({ home, hosts, execute: execute.probes, snapshots: server.pools.snapshots, behind, limits, meter, log });
  try {
    await checkServer(server, { hosts, options, changes });
    // If it fails, statements go the longer way until the next look.
    await workers.follow().catch(() => {});
  } catch (reason) {
    await workers.close();
    await server.close();
    throw reason;
  }
  const { snapshots: database, lists: locks } = server.pools;
  const begin = () => beginMoment({ database, execute: execute.lists, locks, log, health });
  const snapshots = createSnapshots(() => takeSnapshot(execute.lists, begin));
  const words = isServing ? renewWords({ execute: execute.imports, log }) : undefined;
  const sweep = isServing ? sweepChanges({ changes, execute: execute.imports, days: options.changesDays, log }) : undefined;
  const nameKeys = isServing ? new NameKeys({ execute, log, now }) : undefined;
  const plants = createPlants({ servers: workers, execute: execute.lists, nameKeys, snapshots, now });
  const { tokens, queue } = createTokens({ execute, limits, meter });
  addPostgresGauges(metrics, { plants, execute: execute.lists, pools: server.pools, changes });
  const follow = async () => void (await Promise.all([workers.follow(), changes.follow()]));
  server.watch(SCHEMA.probe, { follow });
  return {
    name: hosts.name,
    plants,
    tokens,
    history: createHistory({ log: changes, changesDays: options.changesDays, execute: execute.lists }),
    // Whose server is full is not known before the id is.
    isFull: (name, owner) => (name === "tokens" ? queue.isFull(owner) : workers.all().every(({ queues }) => queues[name].isFull(owner))),
    check() {
      health.check();
      return workers.check();
    },
    contents: () => openContents(begin),
    async close() {
      health.close();
      snapshots.close();
      changes.close();
      await Promise.all([workers.close(), queue.close(), nameKeys?.close(), words?.close(), sweep?.close()]);
      await server.close();
    },
  };
}

type CheckOptions = Readonly<{ hosts: Hosts; options: PostgresOptions; changes: ChangeLog }>;

async function checkServer({ pools, execute }: Server, { hosts, options, changes }: CheckOptions): Promise<void> {
  const { isServing, isNew, log } = options;
  await startUp(pools.lists, { hosts, isNew, waitMs: isServing ? START_MS_MAX : 0, log });
  await changes.follow();
  if (isServing) await probe(pools.lists, { name: hosts.name, isLogged: changes.isKept(), random: Math.random, log });
  if (isServing) await warnOfCreators({ execute: execute.lists, searched: hosts.schema.searched, log });
}
