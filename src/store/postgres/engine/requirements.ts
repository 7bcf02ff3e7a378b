import type { Database } from "./pool.ts";

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

/** Settings that a relative of PostgreSQL lacks are null. */
export const INSPECT = {
  text: `SELECT version(), current_setting('server_version_num', true), current_setting('in_hot_standby', true),
    current_setting('synchronous_commit', true), current_setting('fsync', true), current_setting('synchronous_standby_names', true),
    current_setting('server_encoding', true), current_setting('transaction_read_only', true)`,
} as const;

/**
 * What our statements rest on, whatever the user or the database is set to: warnings of a commit that did not wait come through, NULL in an array is none,
 * and nobody waits for the locks of another program until his time is over. A server whose client has gone ends the statement.
 */
export const PIN = {
  text: `SELECT set_config('client_min_messages', 'warning', false), set_config('array_nulls', 'on', false),
    set_config('lock_timeout', '250ms', false), set_config('client_connection_check_interval', '1s', false)`,
} as const;

export type Settings = [
  version: string,
  versionNumber: string | null,
  inHotStandby: string | null,
  commit: string | null,
  fsync: string | null,
  standbyNames: string | null,
  encoding: string | null,
  readOnly: string | null,
];

/** Looks at a new connection, and sets it up. Throws an UnfitError when what is committed there could be lost, or seen too late. */
export async function inspectServer(query: Database["query"]): Promise<void> {
  const [settings] = await query<Settings>(INSPECT, [], LIMITS);
  checkSettings(settings!);
  // CockroachDB has none of them.
  if (!settings![0].startsWith("CockroachDB")) await query(PIN, [], LIMITS);
}

/** Throws an UnfitError when these settings are those of a server that cannot keep the promises of the store. */
export function checkSettings([version, versionNumber, inHotStandby, commit, fsync, standbyNames, encoding]: Settings): void {
  // CockroachDB says that it is PostgreSQL 13, for the sake of old drivers.
  if (!version.startsWith("CockroachDB") && Number(versionNumber) < VERSION_MIN) {
    throw new UnfitError(`The database is ${version.split(" ").slice(0, 2).join(" ")}: use PostgreSQL 15 or newer.`);
  }
  if (commit === "off") {
    throw new UnfitError("The database answers before it syncs: set synchronous_commit = on, for the server, the database or the user.");
  }
  if (commit === "local" && standbyNames) {
    throw new UnfitError(
      "The database answers before its standbys have the plant: set synchronous_commit = on, or no synchronous standbys.",
    );
  }
  if (encoding !== null && encoding !== "UTF8") {
    throw new UnfitError(`The database keeps text in ${encoding}, which cannot hold every name: make one with ENCODING 'UTF8'.`);
  }
  if (fsync === "off") throw new UnfitError("The database does not sync its files: set fsync = on in postgresql.conf.");
  // It may not have yet what the primary has answered.
  if (inHotStandby === "on") throw new UnfitError("The database is a standby: name the primary too, or promote it.", { isPassing: true });
}
