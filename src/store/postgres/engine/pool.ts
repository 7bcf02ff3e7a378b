import pg from "pg";
import type { ClientBase, PoolClient, PoolConfig, QueryArrayConfig } from "pg";
import { PlantStoreError } from "../../../errors.ts";
import { isReadOnly, LateError, UnconfirmedError, UnsentError } from "./failure.ts";
import type { Hosts } from "./hosts.ts";

/**
 * A statement with parameters $1, $2 … With a name it is prepared once for each connection. Without one it is planned
 * for the values of each call.
 */
export type Statement = Readonly<{ name?: string; text: string }>;

/** A pool of connections to the database. */
export type Database = Readonly<{
  /** Runs one statement, which is a transaction of its own. Resolves with its rows. */
  query<Row extends unknown[]>(statement: Statement, values: readonly unknown[], limits: Limits): Promise<Row[]>;
  /** Resolves with a connection for one caller alone, until it is closed. For transactions of several statements. */
  reserve(connectMs: number): Promise<Session>;
  /** Rejects calls that still wait for a connection. Resolves when the connections in use have ended. */
  close(): Promise<void>;
}>;

/** A connection of one caller. `close` ends its transaction. */
type Session = Readonly<{
  query<Row extends unknown[]>(statement: Statement, values: readonly unknown[], statementMs: number): Promise<Row[]>;
  close(): void;
}>;

/** In milliseconds. Past them a call rejects, and drops its connection if a statement is under way. */
type Limits = Readonly<{ connectMs: number; statementMs: number }>;

type DatabaseOptions = Readonly<{
  hosts: Hosts;
  connectionsMax: number;
  /** The server cancels a statement after this, in milliseconds. */
  serverMs: number;
  /** Checks each new connection. Throws when the server is unfit. */
  inspect: (query: Database["query"]) => Promise<void>;
}>;

/** How many statements may wait for a connection. */
const WAITING_MAX = 256;

const CONNECT_MS_MAX = 2000;
const IDLE_MS = 5 * 60_000;

/** The type BIGINT (pg_type.dat), parsed to `bigint`. Values of all other types stay text. */
const INT8 = 20;

export function openPool({ hosts, connectionsMax, serverMs, inspect }: DatabaseOptions): Database {
  const warnings = new WeakMap<ClientBase, string>();

  /** A connection to the server in use when it opens. If opening fails, the next one goes to another server. */
  class Client extends pg.Client {
    readonly url: string;
    /** Whether it has passed the check: if it breaks later, that says nothing about the server. */
    isOpen = false;

    constructor(config: PoolConfig) {
      const url = hosts.current();
      super({ ...config, connectionString: url });
      this.url = url;
      // Ignore an idle connection that breaks: its next user gets the error.
      this.on("error", () => {});
      this.on("end", () => {
        if (!this.isOpen) hosts.leave(url);
      });
      // SQLSTATE class 01: done, with a warning.
      this.on("notice", ({ code, message }) => code?.startsWith("01") && warnings.set(this, message ?? code));
    }
  }

  const pool = new pg.Pool({
    // The types of pg allow only a class without parameters, but pg passes the options.
    Client: Client as unknown as new () => ClientBase,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: serverMs,
    // Notice a silently dropped connection before it is needed.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    fallback_application_name: "plant-store",
    types: { getTypeParser: (type: number) => (type === INT8 ? BigInt : String) },
    // oxlint-disable-next-line typescript/no-misused-promises -- pg waits for it, though its types do not say so.
    onConnect: async (client: ClientBase) => {
      await inspect((statement, values, { statementMs }) => send(client, { statement, values, statementMs }));
      (client as Client).isOpen = true;
    },
  });
  pool.on("error", () => {});

  return {
    async query<Row extends unknown[]>(statement: Statement, values: readonly unknown[], { connectMs, statementMs }: Limits) {
      const client = await connect(pool, { connectionsMax, limitMs: connectMs });
      try {
        warnings.delete(client);
        const rows = await send<Row>(client, { statement, values, statementMs });
        if (warnings.has(client)) throw new UnconfirmedError(warnings.get(client));
        client.release();
        return rows;
      } catch (thrown) {
        if (isReadOnly(thrown)) hosts.leave((client as PoolClient & Client).url);
        // After a statement error the connection is sound, unless it leads to the wrong server.
        client.release(thrown instanceof pg.DatabaseError && thrown.severity === "ERROR" && !isReadOnly(thrown) ? undefined : true);
        throw thrown;
      }
    },
    async reserve(connectMs) {
      const client = await connect(pool, { connectionsMax, limitMs: connectMs });
      return {
        query: (statement, values, statementMs) => send(client, { statement, values, statementMs }),
        // The server rolls back what a lost connection began.
        close: () => client.release(true),
      };
    },
    close: () => pool.end(),
  };
}

type Query = Readonly<{ statement: Statement; values: readonly unknown[]; statementMs: number }>;

async function send<Row extends unknown[]>(client: ClientBase, { statement, values, statementMs }: Query): Promise<Row[]> {
  const query: QueryArrayConfig & { query_timeout: number } = {
    ...statement,
    values: [...values],
    rowMode: "array",
    query_timeout: Math.ceil(statementMs),
  };
  try {
    return (await client.query<Row>(query)).rows;
  } catch (thrown) {
    throw thrown instanceof Error && thrown.message === "Query read timeout" ? new LateError(statementMs) : thrown;
  }
}

/** Resolves with a connection. Rejects when none is free or opened in time. */
async function connect(pool: pg.Pool, { connectionsMax, limitMs }: { connectionsMax: number; limitMs: number }): Promise<PoolClient> {
  if (pool.waitingCount >= WAITING_MAX) throw new PlantStoreError("overloaded");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const connecting = pool.connect();
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no connection was free in time")), limitMs);
  });
  try {
    return await Promise.race([connecting, late]);
  } catch (reason) {
    connecting.then(
      (client) => client.release(),
      () => {},
    );
    const isBusy = pool.totalCount >= connectionsMax && pool.idleCount === 0;
    throw isBusy ? new PlantStoreError("overloaded", { cause: reason }) : new UnsentError(reason);
  } finally {
    clearTimeout(timer);
  }
}
