import { Client } from "pg";

/** A PostgreSQL on which databases may be created. */
export type DatabaseServer = Readonly<{
  host: string;
  port: number;
  /** The URL of a database. */
  url(database?: string): string;
  /** Creates an empty database and returns its URL. */
  createDatabase(name?: string): Promise<string>;
  /** Runs one statement on a connection of its own and returns the rows. */
  query(sql: string, database?: string): Promise<readonly Row[]>;
  /** Drops the databases created here. */
  dropDatabases(): Promise<void>;
}>;

type Row = Readonly<Record<string, unknown>>;

export function openServer(address: string): DatabaseServer {
  const { hostname, port, pathname } = new URL(address);
  const created: string[] = [];

  function url(database = pathname.slice(1) || "postgres"): string {
    const to = new URL(address);
    to.pathname = `/${database}`;
    return to.href;
  }
  return {
    host: hostname,
    port: Number(port || 5432),
    url,
    async createDatabase(name = `plants_${crypto.randomUUID().replaceAll("-", "")}`) {
      await queryOnce(url(), `CREATE DATABASE "${name}"`);
      created.push(name);
      return url(name);
    },
    query: (sql, database) => queryOnce(url(database), sql),
    async dropDatabases() {
      for (const name of created.splice(0)) await queryOnce(url(), `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    },
  };
}

/** A statement of ours where our tables are in the schema public. */
export function inPublic(statement: string): string {
  return statement.replaceAll("store.", "public.");
}

/** Ends what hangs. On a busy disk, dropping a database, which makes a checkpoint, takes more than 20 s. In milliseconds. */
const HANGING_MS = 120_000;

/** Runs one statement on a connection of its own and returns the rows. */
export async function queryOnce(url: string, sql: string): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: HANGING_MS, query_timeout: HANGING_MS });
  client.on("error", () => {}); // the statement rejects as well; an event that no one hears would end the tests
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
