import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { Store } from "../store.ts";
import { createCommits } from "./commits.ts";
import { openDatabase } from "./database.ts";
import { createHealth } from "./health.ts";
import { parseHosts } from "./hosts.ts";
import { prepare } from "./prepare.ts";
import { createReader } from "./reader.ts";
import { askAgain } from "./retry.ts";
import type { Ask } from "./retry.ts";
import { SCHEMA } from "./schema.ts";
import { checkSettings, INSPECT, inspectServer } from "./server.ts";
import type { Settings } from "./server.ts";
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

/** How long a start waits for the database, in milliseconds. */
const START_MS_MAX = 30_000;

/** How long an end waits for what a hung server has still to answer, in milliseconds. */
const CLOSE_MS_MAX = 1000;

/** Opens, or makes, the store in a PostgreSQL database. Rejects, with what to do, when it cannot promise durability. */
export async function openPostgresStore({ url, isServing, queueMax, queueWaitMs, log }: PostgresOptions): Promise<Store> {
  const hosts = parseHosts(url);
  const quick = openDatabase({ hosts, connectionsMax: QUICK_MAX, serverMs: QUICK_STATEMENT_MS, inspect: inspectServer });
  const slow = openDatabase({ hosts, connectionsMax: SLOW_MAX, serverMs: SLOW_STATEMENT_MS, inspect: inspectServer });
  const closeAll = (): Promise<unknown> =>
    Promise.race([Promise.all([quick.close(), slow.close()]), sleep(CLOSE_MS_MAX, undefined, { ref: false })]);
  try {
    await prepare(slow, { name: hosts.name, waitMs: isServing ? START_MS_MAX : 0, log });
  } catch (reason) {
    await closeAll();
    throw reason;
  }
  const now = () => performance.now();
  const health = createHealth(log);
  const ask = askAgain({ database: quick, health, patienceMs: queueWaitMs });
  const askSlowly = askAgain({ database: slow, health, patienceMs: Math.max(queueWaitMs, LIST_PATIENCE_MS) });
  const askForFiles = askAgain({ database: slow, health, patienceMs: IMPORT_PATIENCE_MS });
  const commits = createCommits({ ask, askForFiles, queueMax, queueWaitMs, now });
  health.watch(async ({ isWrite }) => {
    const refusal = await findRefusal(ask);
    if (isWrite && !refusal) await ask(SCHEMA.probe, [], { isRepeatable: true });
    return refusal;
  });
  return {
    name: hosts.name,
    plants: {
      create: commits.create,
      swap: commits.swap,
      import: commits.import,
      isFull: commits.isFull,
      takesTurns: () => true,
      ...createReader({ ask, askSlowly, now }),
    },
    tokens: createTokens(ask),
    check: health.check,
    async close() {
      health.close();
      await commits.close();
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
