import pg from "pg";
import type { ClientBase, PoolClient, PoolConfig, QueryArrayConfig } from "pg";
import { PlantStoreError } from "../../../errors.ts";
import { isReadOnly, LateError, UnconfirmedError, UnsentError } from "./failure.ts";
import type { Hosts } from "./hosts.ts";

/** A statement with its parameters as $1, $2 … With a name it is prepared once a connection; without one it is planned anew each time, for the values at hand. */
export type Statement = Readonly<{ name?: string; text: string }>;

/** Some connections to the database. */
export type Database = Readonly<{
  /** The rows of one statement, which is a transaction of its own. */
  query<Row extends unknown[]>(statement: Statement, values: readonly unknown[], limits: Limits): Promise<Row[]>;
  /** Rejects what still waits for a connection, and ends when those in use have ended. */
  close(): Promise<void>;
}>;

/** In milliseconds. Past them it rejects; a connection with a statement under way is given up. */
type Limits = Readonly<{ connectMs: number; statementMs: number }>;

type DatabaseOptions = Readonly<{
  hosts: Hosts;
  connectionsMax: number;
  /** The server gives a statement up after this, in milliseconds. */
  serverMs: number;
  /** Looks at each new connection, and throws when it will not do. */
  inspect: (query: Database["query"]) => Promise<void>;
}>;

/** How many statements may wait for a connection. */
const WAITING_MAX = 256;

const CONNECT_MS_MAX = 2000;
const IDLE_MS = 5 * 60_000;

/** The type BIGINT (pg_type.dat), whose values are read to `bigint`; all others stay the text that the server sends. */
const INT8 = 20;

export function openPool({ hosts, connectionsMax, serverMs, inspect }: DatabaseOptions): Database {
  const warnings = new WeakMap<ClientBase, string>();

  /** A connection to the server that is in use when it is opened; when that fails, the next is opened to another one. */
  class Client extends pg.Client {
    readonly url: string;
    /** Whether it has been looked at: one that breaks later says nothing of the server. */
    isOpen = false;

    constructor(config: PoolConfig) {
      const url = hosts.current();
      super({ ...config, connectionString: url });
      this.url = url;
      // A connection that breaks while nobody uses it concerns nobody: whoever uses it next is told.
      this.on("error", () => {});
      this.on("end", () => {
        if (!this.isOpen) hosts.leave(url);
      });
      // The class of SQLSTATE that says: done, but.
      this.on("notice", ({ code, message }) => code?.startsWith("01") && warnings.set(this, message ?? code));
    }
  }

  const pool = new pg.Pool({
    // The types of pg know only a class without parameters; it is called with the options.
    Client: Client as unknown as new () => ClientBase,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: serverMs,
    // A connection that is dropped in silence on the way is noticed before somebody needs it.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    fallback_application_name: "plant-store",
    types: { getTypeParser: (type: number) => (type === INT8 ? BigInt : String) },
    // oxlint-disable-next-line typescript/no-misused-promises -- pg waits for it, though its types do not say so.
    onConnect: async (client: ClientBase) => {
      await inspect((statement, values, { statementMs }) => ask(client, { statement, values, statementMs }));
      (client as Client).isOpen = true;
    },
  });
  pool.on("error", () => {});

  return {
    async query<Row extends unknown[]>(statement: Statement, values: readonly unknown[], { connectMs, statementMs }: Limits) {
      const client = await connect(pool, { connectionsMax, limitMs: connectMs });
      try {
        warnings.delete(client);
        const rows = await ask<Row>(client, { statement, values, statementMs });
        if (warnings.has(client)) throw new UnconfirmedError(warnings.get(client));
        client.release();
        return rows;
      } catch (thrown) {
        if (isReadOnly(thrown)) hosts.leave((client as PoolClient & Client).url);
        // After an error of the statement the connection is sound, unless the server is the wrong one.
        client.release(thrown instanceof pg.DatabaseError && thrown.severity === "ERROR" && !isReadOnly(thrown) ? undefined : true);
        throw thrown;
      }
    },
    close: () => pool.end(),
  };
}

type Question = Readonly<{ statement: Statement; values: readonly unknown[]; statementMs: number }>;

async function ask<Row extends unknown[]>(client: ClientBase, { statement, values, statementMs }: Question): Promise<Row[]> {
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

/** A connection, or a rejection when none is free or can be made in time. */
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
