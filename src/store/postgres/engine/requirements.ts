/** Why a server cannot keep the promises of the store, and what to do. */
export class UnfitError extends Error {
  /** Whether that may change by itself: a standby may be about to be promoted. */
  readonly isTransient: boolean;

  constructor(message: string, { isTransient = false, cause }: { isTransient?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = "UnfitError";
    this.isTransient = isTransient;
  }
}

/** 15.0, as `server_version_num` writes it. */
const VERSION_MIN = 150_000;

/*
 * PostgreSQL looks for functions, operators and types in all schemas of the search path, and takes the one whose types fit
 * best: in the schema of our tables, anyone who may create there could put one of their own in front of its own. So our
 * path is `pg_catalog` alone (`pin`), and our statements name their tables as `store.plants` (see `hosts.ts`). What runs
 * before that, or on a connection of a pooler outside of a transaction, has every name in it qualified.
 */

/** The first statement. Returns the schemas of the search path that exist, too. */
export const IDENTIFY = {
  text: `SELECT pg_catalog.version(), pg_catalog.pg_backend_pid()::bigint, pg_catalog.current_setting('server_version_num', true),
    pg_catalog.current_schemas(false)`,
} as const;

export type Identity = [version: string, backend: bigint, versionNumber: string | null, searched: string];

/** The same, as a connection of this user begins, whatever others have left behind on this one. */
export const FIND_SEARCHED = [
  { text: "BEGIN" },
  { text: "SET LOCAL search_path TO DEFAULT" },
  { text: "SELECT pg_catalog.current_schemas(false)" },
] as const;

/** Takes schemas. Returns the first that has a store, else tables of that name; else the first. */
export const FIND_SCHEMA = {
  text: `SELECT quote_ident(schema) FROM unnest($1::text[]) WITH ORDINALITY AS path (schema, place) WHERE left(schema, 3) <> 'pg_'
    ORDER BY to_regclass(format('%I.plant_store_schema', schema)) IS NULL, to_regclass(format('%I.plants', schema)) IS NULL, place LIMIT 1`,
} as const;

/** Settings that a relative of PostgreSQL lacks are null. */
export const INSPECT = {
  text: `SELECT pg_backend_pid()::bigint, current_setting('in_hot_standby', true), current_setting('synchronous_commit', true), current_setting('synchronous_standby_names', true), current_setting('fsync', true),
    current_setting('full_page_writes', true), current_setting('server_encoding', true), current_setting('transaction_read_only', true),
    (SELECT string_agg(relname, ' and ') FROM pg_class
      WHERE oid IN (to_regclass('store.plants'), to_regclass('store.tokens'), to_regclass('store.plant_changes')) AND relpersistence <> 'p')`,
} as const;

/** Asks for no table: a pooler that spreads reads over standbys sends this where our reads go, but `INSPECT` to the primary. */
export const FIND_READER = { text: `SELECT pg_catalog.current_setting('in_hot_standby', true)` } as const;

/** How old our process of the server is, in milliseconds. Not every server lets everyone read pg_stat_activity, which is made of this. */
export const FIND_AGE = {
  text: `SELECT (extract(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) backend_start) OPERATOR(pg_catalog.*) 1000)::bigint
    FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid())`,
} as const;

/** The clock of the server, in milliseconds since 1970. */
export const FIND_TIME = { text: `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint` } as const;

/** Where the server writes. Not every relative of PostgreSQL can say it. */
export const FIND_TIMELINE = {
  text: `SELECT system_identifier::pg_catalog.text, pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8)
    FROM pg_catalog.pg_control_system()`,
} as const;

/** For a statement that may take hours. */
export const UNLIMIT = {
  text: `SELECT pg_catalog.set_config('statement_timeout', '0', false), pg_catalog.set_config('lock_timeout', '0', false)`,
} as const;

export type Settings = [
  backend: bigint,
  inHotStandby: string | null,
  commit: string | null,
  standbyNames: string | null,
  fsync: string | null,
  fullPageWrites: string | null,
  encoding: string | null,
  readOnly: string | null,
  /** Tables without a WAL. */
  unlogged: string | null,
];

/**
 * Settings that our statements rely on, whatever the user or the database has set. Warnings of a commit that did not
 * wait get through. An unquoted NULL in an array is null, and the names of indexes are as we compare them. No statement
 * spends all its time on the locks of another program. Text is UTF-8, as we send it: not every pooler keeps that apart.
 * The server ends a statement whose client has gone, one that takes longer than `serverMs`, and a transaction whose client
 * is silent, but no export or index build that takes long (only PostgreSQL 17 and newer have such a limit), and no
 * connection that waits for work, with what is sent at that moment. Rows that a policy hides are an error, so no list or
 * export leaves them out without a word, nor does a search that finds many. A statement sees what was committed before it,
 * so changes of one plant wait for each other instead of failing.
 * With less memory, the places of a million plants are kept by page, and every plant of a page is looked at again: with a
 * tag of 1 % and a word of 12 % of ten million plants, a count takes 4.1 s instead of 0.6 s. If a place elsewhere on the
 * disk counted four times as much as the next one, as by default, 300,000 plants of a tag would be sorted to count 10,000:
 * 0.7 s instead of 30 ms.
 * The planner takes a read of changes for more work than it is, and would compile it first: 0.2 to 4.5 s for few rows.
 * They are set after connecting, because a pooler refuses a connection that asks for them; with
 * `isLocal` until the transaction ends.
 */
export function pin({ serverMs, isLocal }: Readonly<{ serverMs: number; isLocal: boolean }>) {
  const settings = {
    // Temporary tables come first by default.
    search_path: "pg_catalog, pg_temp",
    client_min_messages: "warning",
    client_encoding: "UTF8",
    array_nulls: "on",
    quote_all_identifiers: "off",
    lock_timeout: "250ms",
    client_connection_check_interval: "1s",
    statement_timeout: `${serverMs}ms`,
    idle_in_transaction_session_timeout: `${serverMs}ms`,
    idle_session_timeout: "0",
    default_transaction_isolation: "read committed",
    row_security: "off",
    gin_fuzzy_search_limit: "0",
    work_mem: "32MB",
    random_page_cost: "1.1",
    jit: "off",
  };
  const calls = Object.entries(settings).map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', ${isLocal})`);
  const unlimited = `CASE WHEN pg_catalog.current_setting('transaction_timeout', true) IS NOT NULL THEN pg_catalog.set_config('transaction_timeout', '0', ${isLocal}) END`;
  return { text: `SELECT ${calls.join(", ")}, ${unlimited}` };
}

/** Where others may have set something on the same connection to the server: what the user's default is, counts. */
export const RESET = { text: "SET LOCAL synchronous_commit TO DEFAULT" } as const;

/** Why a pooler in front of the database is no help. */
export function poolerUnfit(reason: unknown): UnfitError {
  const message = reason instanceof Error ? reason.message : String(reason);
  return new UnfitError(`The pooler in front of the database refuses transactions (${message}): set pool_mode = session or transaction.`);
}

export const OTHER_POOLER = "Connect to PostgreSQL itself, or use PgBouncer.";

/** How much older than the connection our process of the server has to look: clocks are not exact. In milliseconds. */
const OLDER_MS_MIN = 20;

/**
 * Throws an UnfitError when our process of the server had another client before, and may have another one soon: a pooler
 * lends it that does not give it a number of its own, by which it is known.
 */
export function checkAge(age: [ms: bigint] | undefined, connectionMs: number): void {
  if (Number(age?.[0] ?? 0) <= connectionMs + OLDER_MS_MIN) return;
  throw new UnfitError(`The pooler in front of the database lends connections, and hides it. ${OTHER_POOLER}`);
}

/** The server goes on as a primary, although another one with the same plants was promoted: what it has is out of date. */
export class OvertakenError extends UnfitError {
  constructor() {
    super("Another server of the database was promoted since this one was the primary: stop it, or make it a standby (pg_rewind).", {
      isTransient: true,
    });
    this.name = "OvertakenError";
  }
}

/** Throws an UnfitError when reads go to a standby, on a connection whose `INSPECT` was answered by a primary. */
export function checkReader([inHotStandby]: [inHotStandby: string | null]): void {
  if (inHotStandby !== "on") return;
  throw new UnfitError(
    `What is in front of the database sends reads to a standby, which may not have yet what was answered. ${OTHER_POOLER}`,
  );
}

/**
 * Takes processes of the server, and how long ago their statements were given up, in milliseconds. Cancels what they
 * still run for the same user and program, and returns them. A process that has the number of an earlier one, or serves
 * someone else behind a pooler now, runs what began later. It asks what `FIND_AGE` asks, for the same reason.
 */
export const FIND_ALIVE = {
  text: `SELECT pid::bigint, pg_cancel_backend(pid)
    FROM pg_stat_get_activity(NULL) JOIN unnest($1::bigint[], $2::bigint[]) AS given_up (process, ms) ON pid::bigint = process
    WHERE state = 'active' AND query_start < clock_timestamp() - ms * interval '1 millisecond'
    AND pg_get_userbyid(usesysid) = current_user AND application_name = current_setting('application_name')`,
} as const;

/** Who keeps everyone else from writing to the tables, as CREATE INDEX and LOCK TABLE do. Not to one row. */
export const FIND_LOCK = {
  text: `SELECT coalesce(pid, 0)::bigint, coalesce(application_name, ''), mode, relname
    FROM pg_locks JOIN pg_class ON pg_class.oid = relation LEFT JOIN pg_stat_activity USING (pid)
    WHERE relation IN (to_regclass('store.plants'), to_regclass('store.tokens'), to_regclass('store.plant_changes')) AND locktype = 'relation' AND granted
    AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY pid LIMIT 1`,
} as const;

/**
 * Takes schemas. Returns each of them, and of our tables, in which a role other than ours and the owner may create
 * functions or triggers, with those roles. Superusers may anyway.
 */
export const FIND_CREATORS = {
  text: `SELECT place, string_agg(CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee)::text END, ',' ORDER BY grantee) FROM (
      SELECT 'schema ' || nspname AS place, nspowner AS owner, (aclexplode(nspacl)).* FROM pg_namespace WHERE nspname::text = ANY($1::text[])
      UNION ALL
      SELECT 'table ' || relname, relowner, (aclexplode(relacl)).* FROM pg_class
        WHERE oid IN (
          to_regclass('store.plants'), to_regclass('store.tokens'), to_regclass('store.plant_store_schema'), to_regclass('store.plant_changes')
        )
    ) AS granted
    WHERE privilege_type IN ('CREATE', 'TRIGGER')
      AND grantee NOT IN (owner, (SELECT oid FROM pg_roles WHERE rolname = current_user))
      AND NOT EXISTS (SELECT 1 FROM pg_roles WHERE oid = grantee AND rolsuper)
    GROUP BY place ORDER BY place`,
} as const;

/** Throws an UnfitError when the server is too old. */
export function checkVersion([version, , versionNumber]: Identity): void {
  // CockroachDB reports itself as PostgreSQL 13, for old drivers.
  if (!version.startsWith("CockroachDB") && Number(versionNumber) < VERSION_MIN) {
    throw new UnfitError(`The database is ${version.split(" ").slice(0, 2).join(" ")}: use PostgreSQL 15 or newer.`);
  }
}

/** Throws an UnfitError when a server with these settings cannot keep the promises of the store. */
export function checkSettings([, inHotStandby, commit, standbyNames, fsync, fullPageWrites, encoding, , unlogged]: Settings): void {
  if (commit === "off") {
    throw new UnfitError(
      "The database confirms a commit before it syncs it: set synchronous_commit = on for the server, the database or the user.",
    );
  }
  // With remote_write, a standby has it in memory.
  if ((commit === "local" || commit === "remote_write") && standbyNames) {
    throw new UnfitError(
      "The database confirms a commit before its standbys have synced it: set synchronous_commit = on, or name no synchronous standbys.",
    );
  }
  if (encoding !== null && encoding !== "UTF8") {
    throw new UnfitError(`The database stores text in ${encoding}, which cannot hold every name: create one with ENCODING 'UTF8'.`);
  }
  if (fsync === "off") throw new UnfitError("The database does not sync its files: set fsync = on in postgresql.conf.");
  if (fullPageWrites === "off") {
    throw new UnfitError("The database cannot repair a page that a power cut tore: set full_page_writes = on in postgresql.conf.");
  }
  if (unlogged !== null) {
    throw new UnfitError(`A crash of the database would empty ${unlogged}, which have no WAL: ALTER TABLE … SET LOGGED.`);
  }
  // A standby may not have what the primary has already confirmed.
  if (inHotStandby === "on") throw new UnfitError("The database is a standby: name the primary too, or promote it.", { isTransient: true });
}
