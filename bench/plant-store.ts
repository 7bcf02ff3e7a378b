import { Client } from "pg";
import type { QueryResultRow } from "pg";
import { removeTemporaryFolders } from "../test/support/temporary-folder.ts";
import { findBinaries } from "../test/support/postgres/binaries.ts";
import { startCluster, stopClusters } from "../test/support/postgres/cluster.ts";
import { cpuSecondsOfFamily } from "./cputime.ts";
import { leaveProgramCore, takeBothCores } from "./machine.ts";

/** A PostgreSQL server of our own, on disk, with PostgreSQL's default settings. */
export type Server = Readonly<{
  /** Such as "PostgreSQL 18.1". */
  name: string;
  /** The folder of its programs. */
  binaries: string;
  /** CPU time used so far by all its processes. */
  cpuSeconds(): number;
  /** Creates a database, empty or a copy of one without connections, and returns its URL. It goes with the server at the latest. */
  createDatabase(source?: string): Promise<string>;
  /** Opens a database that stays with the server, and creates it if it is not there. Returns its URL. */
  openDatabase(name: string): Promise<string>;
  dropDatabase(database: string): Promise<void>;
}>;

type ServerOptions = Readonly<{
  /** Where the server stays for the next run; by default it is removed. */
  folder?: string;
}>;

/** The tests keep WAL for standbys. There are none here. */
const SETTINGS = { wal_keep_size: "0" };

/** Runs `work` with a server of its own. Meanwhile everything the bench starts shares both cores. */
export async function withServer<Result>(work: (server: Server) => Promise<Result>, { folder }: ServerOptions = {}): Promise<Result> {
  await takeBothCores();
  try {
    const binaries = findBinaries();
    const { query, url, stop } = await startCluster({ binaries, settings: SETTINGS, ...(folder === undefined ? {} : { folder }) });
    const [about] = await query("SELECT current_setting('server_version') AS version, pg_read_file('postmaster.pid') AS lock");
    const pid = Number.parseInt(String(about?.["lock"]), 10);
    let made = 0;
    const result = await work({
      name: `PostgreSQL ${String(about?.["version"]).split(" ")[0]}`,
      binaries,
      cpuSeconds: () => cpuSecondsOfFamily(pid),
      // Both statements end with a checkpoint, so the next measurement is not burdened with one.
      async createDatabase(source = url("template1")) {
        made += 1;
        const name = `bench_${made}`;
        // Copying files takes seconds for a large one, and no WAL.
        await queryDatabase(url(), `CREATE DATABASE ${name} TEMPLATE ${nameOf(source)} STRATEGY FILE_COPY`);
        return url(name);
      },
      async openDatabase(name) {
        const there = await queryDatabase(url(), "SELECT FROM pg_database WHERE datname = $1", [name]);
        if (there.length === 0) await queryDatabase(url(), `CREATE DATABASE ${name}`);
        return url(name);
      },
      async dropDatabase(database) {
        await queryDatabase(url(), `DROP DATABASE ${nameOf(database)} WITH (FORCE)`);
      },
    });
    // With a checkpoint, so that it starts whole, and with its statistics.
    await stop();
    return result;
  } finally {
    await stopClusters();
    removeTemporaryFolders();
    await leaveProgramCore();
  }
}

/** Runs `work` with a new database, which is removed at the end. */
export async function withDatabase<Result>(
  { createDatabase, dropDatabase }: Server,
  work: (database: string) => Promise<Result>,
  source?: string,
): Promise<Result> {
  const database = await createDatabase(source);
  try {
    return await work(database);
  } finally {
    await dropDatabase(database);
  }
}

/** Runs one statement on its own connection, without a time limit. */
export async function queryDatabase<Row extends QueryResultRow>(database: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: database });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

function nameOf(database: string): string {
  return new URL(database).pathname.slice(1);
}
