import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Log } from "../../../log.ts";
import type { Database } from "./pool.ts";
import { UnsentError } from "./failure.ts";
import { migrate } from "./schema.ts";
import { UnfitError } from "./requirements.ts";

type StartUpOptions = Readonly<{ name: string; waitMs: number; log: Log }>;

/** How long between two looks for a database that is not there yet, in milliseconds. */
const PAUSE_MS = 500;

/** For a statement of the schema. Making an index anew may take long. */
const LIMITS = { connectMs: 2000, statementMs: 30_000 };

/** Brings the database to our schema, once it is there. */
export async function startUp(database: Database, { name, waitMs, log }: StartUpOptions): Promise<void> {
  const until = performance.now() + waitMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await migrate((statement, values = []) => database.query(statement, values, LIMITS));
    } catch (thrown) {
      if (!isAbsent(thrown) || performance.now() + PAUSE_MS > until) throw explain(thrown, name);
      if (tries === 0) log.warn("database_waiting", { store: name, forMs: waitMs, reason: thrown });
      await sleep(PAUSE_MS);
    }
  }
}

/** Whether the database may be there soon: it starts, or takes over from another one. */
function isAbsent(thrown: unknown): boolean {
  const reason = thrown instanceof UnsentError ? thrown.cause : thrown;
  if (reason instanceof UnfitError) return reason.isPassing;
  const state = sqlStateOf(reason);
  if (state !== undefined) return ["57P03", "53300"].includes(state);
  // A wrong certificate, or none where one is asked for, stays as it is.
  return !(reason instanceof Error && /SSL|certificate/i.test(reason.message));
}

/** Also of what the driver refuses itself: it needs a password, and the address has none. */
function sqlStateOf(reason: unknown): string | undefined {
  if (reason instanceof pg.DatabaseError) return reason.code;
  return reason instanceof Error && reason.message.startsWith("SASL") ? "28P01" : undefined;
}

/** What people can do about it, by SQLSTATE or its class. */
const ADVICE: Readonly<Record<string, string>> = {
  "28": "It refuses the user or the password: check both in PLANT_STORE_DATABASE.",
  "3D000": "There is no database of that name: make it, for example with createdb.",
  "3F000": "The search_path of the user names no schema: set it, for example to public.",
  "42501":
    "The user lacks a right: let it make tables (CREATE on the schema), or grant it SELECT, INSERT, UPDATE and DELETE on those there.",
  "25006": "It takes no changes: name the primary, or end its read-only mode.",
};

function explain(thrown: unknown, name: string): Error {
  const reason = thrown instanceof UnsentError ? thrown.cause : thrown;
  const told = reason instanceof Error ? reason.message : String(reason);
  const code = sqlStateOf(reason) ?? "";
  const advice = Object.entries(ADVICE).find(([start]) => code.startsWith(start))?.[1];
  if (reason instanceof UnfitError) return new Error(`${name}: ${told}`, { cause: thrown });
  return new Error(`${name} cannot be used (${told}). ${advice ?? "Check its address in PLANT_STORE_DATABASE, and that it is running."}`, {
    cause: thrown,
  });
}
