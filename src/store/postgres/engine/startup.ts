import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../../runtime/log.ts";
import { describeFailure } from "../../../runtime/system-failure.ts";
import type { Hosts } from "./hosts.ts";
import type { Run } from "./index-build.ts";
import { SERVER_MS_MAX } from "./pool.ts";
import type { Database, Statement } from "./pool.ts";
import { sqlStateOf, UnsentError } from "./failure.ts";
import { checkStandbys } from "./promotion.ts";
import { migrate } from "./schema.ts";
import { UnfitError, UNLIMIT } from "./requirements.ts";

type StartUpOptions = Readonly<{ hosts: Hosts; isNew: boolean; waitMs: number; log: Log }>;

/** Pause between tries while the database is not up yet, in milliseconds. */
const PAUSE_MS = 500;

/** How often a start waits again for a server that was there and went away again. */
const RETURNS_MAX = 3;

/** For a statement of the schema that is done in a moment. */
const STATEMENT_MS_MAX = 30_000;

/** The longest time that a timer knows: 24 days. */
const FOREVER_MS = 2 ** 31 - 1;

/** Migrates the database, once it is up. Of several servers, one that was promoted after all others is used. */
export async function startUp(database: Database, { hosts, isNew, waitMs, log }: StartUpOptions): Promise<void> {
  const { name, count } = hosts;
  const limits = { connectMs: SERVER_MS_MAX * count, statementMs: STATEMENT_MS_MAX, serversMax: count };
  let answeredAt = performance.now();
  const run: Run = async <Row extends unknown[]>(statement: Statement, values: readonly unknown[] = []) => {
    const rows = await database.query<Row>(statement, values, limits);
    answeredAt = performance.now();
    return rows;
  };
  const runLong = async (statement: Statement) => void (await runUnlimited(database, statement));

  await checkStandbys(hosts);
  let until = performance.now() + waitMs;
  let isLogged = false;
  for (let returns = 0; ;) {
    const beganAt = performance.now();
    try {
      return await migrate({ run, runLong, isNew, name, log });
    } catch (thrown) {
      // It was there, maybe for as long as an index takes, and is away only now.
      if (answeredAt > beganAt && returns < RETURNS_MAX) {
        returns += 1;
        until = performance.now() + waitMs;
        isLogged = false;
      }
      if (!isAbsent(thrown) || performance.now() + PAUSE_MS > until) throw explain(thrown, name);
      if (!isLogged) log.warn("database_waiting", { store: name, forMs: waitMs, reason: describeFailure(reasonOf(thrown)) });
      isLogged = true;
      await sleep(PAUSE_MS);
    }
  }
}

/** What is wrong with a connection that could not even be asked. */
function reasonOf(thrown: unknown): unknown {
  return thrown instanceof UnsentError ? thrown.cause : thrown;
}

/** Runs a statement that may take hours. Resolves with its rows. */
export async function runUnlimited<Row extends unknown[]>(
  database: Database,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const session = await database.reserve(SERVER_MS_MAX);
  try {
    await session.query(UNLIMIT, [], STATEMENT_MS_MAX);
    return await session.query<Row>(statement, values, FOREVER_MS);
  } finally {
    session.close();
  }
}

/** Whether the database may be up soon: it is starting or restarting, or taking over from another one. */
function isAbsent(thrown: unknown): boolean {
  const reason = reasonOf(thrown);
  if (reason instanceof UnfitError) return reason.isTransient;
  const state = stateOf(reason);
  if (state !== undefined) return ["57P01", "57P02", "57P03", "53300"].includes(state);
  // A certificate does not heal by itself.
  return !isOfCertificate(reason);
}

/** Whether the certificate of the server is wrong, it has none, or a file that the address names for it cannot be read. */
function isOfCertificate(reason: unknown): boolean {
  return reason instanceof Error && (/SSL|certificate/i.test(reason.message) || fileOf(reason) !== undefined);
}

function fileOf(reason: unknown): string | undefined {
  const { syscall, path } = reason as NodeJS.ErrnoException;
  return syscall === "open" ? path : undefined;
}

/** Covers what the driver itself refuses: the server wants a password, and the address has none. */
function stateOf(reason: unknown): string | undefined {
  return sqlStateOf(reason) ?? (reason instanceof Error && reason.message.startsWith("SASL") ? "28P01" : undefined);
}

/** What people can do about it, by SQLSTATE or its class. */
const ADVICE: Readonly<Record<string, string>> = {
  "28": "The server refuses the user or the password: check both in PLANT_STORE_DATABASE.",
  "3D000": "There is no database of that name: create it, for example with createdb.",
  "42501": "The user lacks a privilege: grant CREATE on the schema, or SELECT, INSERT, UPDATE and DELETE on tables that exist already.",
  "53300": "It has no connection left for this user: end others, or raise max_connections or the CONNECTION LIMIT of the user.",
  "25006": "It is read-only: name the primary, or end its read-only mode.",
};

const CERTIFICATE_ADVICE = "Check its certificate, and the host, sslmode and sslrootcert in PLANT_STORE_DATABASE.";
const OTHER_ADVICE = "Check its address in PLANT_STORE_DATABASE, and whether it is running.";

/** A failure of the database with its name, and what people can do about it. */
export function explain(thrown: unknown, name: string): Error {
  const reason = reasonOf(thrown);
  const message = [fileOf(reason), describeFailure(reason)].filter(Boolean).join(": ");
  if (reason instanceof UnfitError) return new Error(`${name}: ${message}`, { cause: thrown });
  const code = stateOf(reason) ?? "";
  const known = Object.entries(ADVICE).find(([start]) => code.startsWith(start))?.[1];
  const advice = known ?? (isOfCertificate(reason) ? CERTIFICATE_ADVICE : OTHER_ADVICE);
  return new Error(`${name} cannot be used (${message}). ${advice}`, { cause: thrown });
}
