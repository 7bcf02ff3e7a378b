import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { Store } from "../store.ts";
import { createPlants } from "./plants.ts";
import { openPool } from "./engine/pool.ts";
import { createHealth } from "./engine/health.ts";
import { parseHosts } from "./engine/hosts.ts";
import { startUp } from "./engine/startup.ts";
import { askAgain } from "./engine/retry.ts";
import type { Ask } from "./engine/retry.ts";
import { SCHEMA } from "./engine/schema.ts";
import { checkSettings, INSPECT, inspectServer } from "./engine/requirements.ts";
import type { Settings } from "./engine/requirements.ts";
import { createTokens } from "./tokens.ts";

type PostgresOptions = Readonly<{
  /** A connection string, in which several servers may stand. */
  url: string;
  /** Wait for a database that is not there yet. A command tells at once. */
  isServing: boolean;
  queueMax: number;
  queueWaitMs: number;
  log: Log;
}>;

/** Connections for single plants and tokens, and for what may take longer: lists, counts and files never keep single plants waiting. */
const QUICK_MAX = 6;
const SLOW_MAX = 6;

/** The server gives a statement up after this, should we have gone: it would hold locks. In milliseconds. */
const QUICK_STATEMENT_MS = 5000;
const SLOW_STATEMENT_MS = 30_000;

/** How long a list or an export waits for the database, so that a short restart does not break an export off. In milliseconds. */
const LIST_PATIENCE_MS = 5000;

/** How long an import waits for the database: a failover is no reason to break off a file. In milliseconds. */
const IMPORT_PATIENCE_MS = 15_000;

/** While one commit is elsewhere the processor is free for the next: commits that take turns are faster than one for all who wait. Measured. */
const GATHER_TURNS = 2;
const ENOUGH = 32;

/** How long a start waits for the database, in milliseconds. */
const START_MS_MAX = 30_000;

/** How long an end waits for what a hung server has still to answer, in milliseconds. */
const CLOSE_MS_MAX = 1000;

/** Opens, or makes, the store in a PostgreSQL database. Rejects, with what to do, when it cannot promise durability. */
export async function openPostgresStore({ url, isServing, queueMax, queueWaitMs, log }: PostgresOptions): Promise<Store> {
  const hosts = parseHosts(url);
  const quick = openPool({ hosts, connectionsMax: QUICK_MAX, serverMs: QUICK_STATEMENT_MS, inspect: inspectServer });
  const slow = openPool({ hosts, connectionsMax: SLOW_MAX, serverMs: SLOW_STATEMENT_MS, inspect: inspectServer });
  const closeAll = (): Promise<unknown> =>
    Promise.race([Promise.all([quick.close(), slow.close()]), sleep(CLOSE_MS_MAX, undefined, { ref: false })]);
  try {
    await startUp(slow, { name: hosts.name, waitMs: isServing ? START_MS_MAX : 0, log });
  } catch (reason) {
    await closeAll();
    throw reason;
  }
  const now = () => performance.now();
  const health = createHealth(log);
  const ask = askAgain({ database: quick, health, patienceMs: queueWaitMs });
  const askSlowly = askAgain({ database: slow, health, patienceMs: Math.max(queueWaitMs, LIST_PATIENCE_MS) });
  const askForFiles = askAgain({ database: slow, health, patienceMs: IMPORT_PATIENCE_MS });
  const limits = { gatherTurns: GATHER_TURNS, enough: ENOUGH, queueMax, waitMs: queueWaitMs, now };
  const { plants, queues, close } = createPlants({ ask, askSlowly, askForFiles, limits });
  const { tokens, queue } = createTokens({ ask, limits });
  const full = { ...queues, tokens: queue };
  health.watch(async ({ isWrite }) => {
    const refusal = await findRefusal(ask);
    if (isWrite && !refusal) await ask(SCHEMA.probe, [], { isRepeatable: true });
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
      await Promise.all([close(), queue.close()]);
      await closeAll();
    },
  };
}

/** Why the server will not do, if so: its settings may have been changed while connections were open. */
async function findRefusal(ask: Ask): Promise<PlantStoreError | undefined> {
  const [settings] = await ask<Settings>(INSPECT, [], { isRepeatable: true });
  try {
    checkSettings(settings!);
    // Reads go on then, so it does not speak against a connection.
    if (settings!.at(-1) === "on") throw new Error("The database takes no changes.");
    return undefined;
  } catch (cause) {
    return new PlantStoreError("store_unavailable", { cause });
  }
}
