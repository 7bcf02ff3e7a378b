import type { Database } from "./pool.ts";

/** Why a server cannot keep the promises of the store, and what to do. */
export class UnfitError extends Error {
  /** Whether that may change by itself: a standby may be about to be promoted. */
  readonly isPassing: boolean;

  constructor(message: string, { isPassing = false } = {}) {
    super(message);
    this.name = "UnfitError";
    this.isPassing = isPassing;
  }
}

/** 15.0, as `server_version_num` writes it. */
const VERSION_MIN = 150_000;

const LIMITS = { connectMs: 0, statementMs: 2000 };

/** Settings that a relative of PostgreSQL lacks are null. */
export const INSPECT = {
  text: `SELECT version(), current_setting('server_version_num', true), current_setting('in_hot_standby', true),
    current_setting('synchronous_commit', true), current_setting('fsync', true), current_setting('synchronous_standby_names', true),
    current_setting('server_encoding', true), current_setting('transaction_read_only', true)`,
} as const;

/**
 * Settings that our statements rely on, whatever the user or the database has set. Warnings of a commit that did not
 * wait get through. An unquoted NULL in an array is null. No statement spends all its time on the locks of another
 * program. The server ends a statement whose client has gone.
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

/**
 * Checks a new connection and sets it up. Throws an UnfitError when what is committed there could be lost, or seen too
 * late.
 */
export async function inspectServer(query: Database["query"]): Promise<void> {
  const [settings] = await query<Settings>(INSPECT, [], LIMITS);
  checkSettings(settings!);
  // CockroachDB has none of these settings.
  if (!settings![0].startsWith("CockroachDB")) await query(PIN, [], LIMITS);
}

/** Throws an UnfitError when a server with these settings cannot keep the promises of the store. */
export function checkSettings([version, versionNumber, inHotStandby, commit, fsync, standbyNames, encoding]: Settings): void {
  // CockroachDB reports itself as PostgreSQL 13, for old drivers.
  if (!version.startsWith("CockroachDB") && Number(versionNumber) < VERSION_MIN) {
    throw new UnfitError(`The database is ${version.split(" ").slice(0, 2).join(" ")}: use PostgreSQL 15 or newer.`);
  }
  if (commit === "off") {
    throw new UnfitError(
      "The database confirms a commit before it syncs it: set synchronous_commit = on for the server, the database or the user.",
    );
  }
  if (commit === "local" && standbyNames) {
    throw new UnfitError(
      "The database confirms a commit before its standbys have it: set synchronous_commit = on, or name no synchronous standbys.",
    );
  }
  if (encoding !== null && encoding !== "UTF8") {
    throw new UnfitError(`The database stores text in ${encoding}, which cannot hold every name: create one with ENCODING 'UTF8'.`);
  }
  if (fsync === "off") throw new UnfitError("The database does not sync its files: set fsync = on in postgresql.conf.");
  // A standby may not have what the primary has already confirmed.
  if (inHotStandby === "on") throw new UnfitError("The database is a standby: name the primary too, or promote it.", { isPassing: true });
}
