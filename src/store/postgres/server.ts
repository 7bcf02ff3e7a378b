import type { Database } from "./database.ts";

/** Why a server cannot keep the promises of the store, and what to do. */
export class UnfitError extends Error {
  /** Whether that may change by itself, as of a standby that is about to be promoted. */
  readonly isPassing: boolean;

  constructor(message: string, { isPassing = false } = {}) {
    super(message);
    this.name = "UnfitError";
    this.isPassing = isPassing;
  }
}

/** 15.0 as `server_version_num` has it. */
const VERSION_MIN = 150_000;

const LIMITS = { connectMs: 0, statementMs: 2000 };

/** Takes nothing; settings that a relative of PostgreSQL lacks are null. */
export const INSPECT = {
  text: `SELECT version(), current_setting('server_version_num', true), current_setting('in_hot_standby', true),
    current_setting('synchronous_commit', true), current_setting('fsync', true)`,
} as const;

type Settings = [version: string, versionNumber: string | null, inHotStandby: string | null, commit: string | null, fsync: string | null];

/** Looks at a new connection. Throws an UnfitError when what is committed there could be lost, or seen too late. */
export async function inspectServer(query: Database["query"]): Promise<void> {
  const [settings] = await query<Settings>(INSPECT, [], LIMITS);
  const [version, versionNumber, inHotStandby, commit, fsync] = settings!;
  // CockroachDB says that it is PostgreSQL 13, for the sake of old drivers.
  if (!version.startsWith("CockroachDB") && Number(versionNumber) < VERSION_MIN) {
    throw new UnfitError(`The database is ${version.split(" ").slice(0, 2).join(" ")}: use PostgreSQL 15 or newer.`);
  }
  if (commit === "off") {
    throw new UnfitError("The database answers before it syncs: set synchronous_commit = on, for the server, the database or the user.");
  }
  if (fsync === "off") throw new UnfitError("The database does not sync its files: set fsync = on in postgresql.conf.");
  // It may not have yet what the primary has answered.
  if (inHotStandby === "on") throw new UnfitError("The database is a standby: name the primary too, or promote it.", { isPassing: true });
}
