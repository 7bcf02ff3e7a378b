import pg from "pg";
import type { ClientBase, PoolClient, PoolConfig, QueryArrayConfig } from "pg";
import { PlantStoreError } from "../../errors.ts";
import { isReadOnly, UnconfirmedError, UnsentError } from "./failure.ts";
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

/** The type BIGINT (pg_type.dat), whose values are read to `bigint`; all others stay the text that the server sends. */
const INT8 = 20;

export function openDatabase({ hosts, connectionsMax, serverMs, inspect }: DatabaseOptions): Database {
  const warnings = new WeakMap<ClientBase, string>();

  /** A connection to the server that is in use when it is opened; when that fails, the next is opened to another one. */
  class Client extends pg.Client {
    readonly url: string;

    constructor(config: PoolConfig) {
      const url = hosts.current();
      super({ ...config, connectionString: url });
      this.url = url;
      // A connection that breaks while nobody uses it concerns nobody: whoever uses it next is told.
      this.on("error", () => {});
      this.on("end", () => hosts.leave(url));
      // The class of SQLSTATE that says: done, but.
      this.on("notice", ({ code, message }) => code?.startsWith("01") && warnings.set(this, message ?? code));
    }
  }

  const pool = new pg.Pool({
    // The types of pg know only a class without parameters; it is called with the options.
    Client: Client as unknown as new () => ClientBase,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    // Those that are open stay so: then one that ends has failed.
    idleTimeoutMillis: 0,
    statement_timeout: serverMs,
    keepAlive: true,
    fallback_application_name: "plant-store",
    types: { getTypeParser: (type: number) => (type === INT8 ? BigInt : String) },
    // oxlint-disable-next-line typescript/no-misused-promises -- pg waits for it, though its types do not say so.
    onConnect: (client: ClientBase) => inspect((statement, values, { statementMs }) => ask(client, { statement, values, statementMs })),
  });
  pool.on("error", () => {});

  return {
    async query<Row extends unknown[]>(statement: Statement, values: readonly unknown[], { connectMs, statementMs }: Limits) {
      const client = await connect(pool, connectMs);
      try {
        warnings.delete(client);
        const rows = await ask<Row>(client, { statement, values, statementMs });
        if (warnings.has(client)) throw new UnconfirmedError(warnings.get(client));
        client.release();
        return rows;
      } catch (thrown) {
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
  return (await client.query<Row>(query)).rows;
}

/** A connection, or a rejection when none is free or can be made in time. */
async function connect(pool: pg.Pool, limitMs: number): Promise<PoolClient> {
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
    throw new UnsentError(reason);
  } finally {
    clearTimeout(timer);
  }
}
