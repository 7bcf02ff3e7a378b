import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Log } from "../../log.ts";
import type { Store } from "../store.ts";
import { createCommits } from "./commits.ts";
import { openDatabase } from "./database.ts";
import type { Database } from "./database.ts";
import { UnsentError } from "./failure.ts";
import { createHealth } from "./health.ts";
import { parseHosts } from "./hosts.ts";
import { createReader } from "./reader.ts";
import { askAgain } from "./retry.ts";
import { migrate, SCHEMA } from "./schema.ts";
import { inspectServer, UnfitError } from "./server.ts";
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
const SLOW_MAX = 4;

/** The server gives a statement up after this, should we have gone: it would hold locks. In milliseconds. */
const QUICK_STATEMENT_MS = 5000;
const SLOW_STATEMENT_MS = 30_000;

/** How long an import waits for the database: a failover is no reason to break off a file. In milliseconds. */
const IMPORT_PATIENCE_MS = 15_000;

/** How long a start waits for the database, and between two looks, in milliseconds. */
const START_MS_MAX = 30_000;
const START_PAUSE_MS = 500;

/** For a statement of the schema, in milliseconds. */
const SCHEMA_LIMITS = { connectMs: 2000, statementMs: SLOW_STATEMENT_MS };

/** Opens, or makes, the store in a PostgreSQL database. Rejects, with what to do, when it cannot promise durability. */
export async function openPostgresStore({ url, isServing, queueMax, queueWaitMs, log }: PostgresOptions): Promise<Store> {
  const hosts = parseHosts(url);
  const quick = openDatabase({ hosts, connectionsMax: QUICK_MAX, serverMs: QUICK_STATEMENT_MS, inspect: inspectServer });
  const slow = openDatabase({ hosts, connectionsMax: SLOW_MAX, serverMs: SLOW_STATEMENT_MS, inspect: inspectServer });
  const closeAll = async (): Promise<void> => void (await Promise.all([quick.close(), slow.close()]));
  try {
    await prepare(slow, { name: hosts.name, waitMs: isServing ? START_MS_MAX : 0, log });
  } catch (reason) {
    await closeAll();
    throw reason;
  }
  const now = () => performance.now();
  const health = createHealth(log);
  const ask = askAgain({ database: quick, health, patienceMs: queueWaitMs });
  const askSlowly = askAgain({ database: slow, health, patienceMs: queueWaitMs });
  const askForFiles = askAgain({ database: slow, health, patienceMs: IMPORT_PATIENCE_MS });
  const commits = createCommits({ ask, askForFiles, queueMax, queueWaitMs, now });
  health.watch(({ isWrite }) => ask(isWrite ? SCHEMA.probe : SCHEMA.read, [], { isRepeatable: true }));
  return {
    name: hosts.name,
    plants: {
      create: commits.create,
      swap: commits.swap,
      import: commits.import,
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

type PrepareOptions = Readonly<{ name: string; waitMs: number; log: Log }>;

/** Brings the database to our schema, once it is there. */
async function prepare(database: Database, { name, waitMs, log }: PrepareOptions): Promise<void> {
  const until = performance.now() + waitMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await migrate((statement, values = []) => database.query(statement, values, SCHEMA_LIMITS));
    } catch (thrown) {
      if (!isAbsent(thrown) || performance.now() + START_PAUSE_MS > until) throw explain(thrown, name);
      if (tries === 0) log.warn("database_waiting", { store: name, forMs: waitMs, reason: thrown });
      await sleep(START_PAUSE_MS);
    }
  }
}

/** Whether the database may be there soon: it starts, or takes over from another one. */
function isAbsent(thrown: unknown): boolean {
  const reason = thrown instanceof UnsentError ? thrown.cause : thrown;
  if (reason instanceof UnfitError) return reason.isPassing;
  return !(reason instanceof pg.DatabaseError) || ["57P03", "53300"].includes(reason.code ?? "");
}

/** What people can do about it, by SQLSTATE or its class. */
const ADVICE: Readonly<Record<string, string>> = {
  "28": "It refuses the user or the password: check both in PLANT_STORE_DATABASE.",
  "3D000": "There is no database of that name: make it, for example with createdb.",
  "42501": "The user may not make tables there: grant it CREATE on the schema, or make the database its own.",
  "25006": "It takes no changes: name the primary, or end its read-only mode.",
};

function explain(thrown: unknown, name: string): Error {
  const reason = thrown instanceof UnsentError ? thrown.cause : thrown;
  const told = reason instanceof Error ? reason.message : String(reason);
  const code = reason instanceof pg.DatabaseError ? (reason.code ?? "") : "";
  const advice = Object.entries(ADVICE).find(([start]) => code.startsWith(start))?.[1];
  if (reason instanceof UnfitError) return new Error(`${name}: ${told}`, { cause: thrown });
  return new Error(`${name} cannot be used (${told}). ${advice ?? "Check its address in PLANT_STORE_DATABASE, and that it is running."}`, {
    cause: thrown,
  });
}
