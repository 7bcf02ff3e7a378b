import { Client } from "pg";
import type { QueryResultRow } from "pg";
import { removeTemporaryFolders } from "../test/support/temporary-folder.ts";
import { findBinaries } from "../test/support/postgres/binaries.ts";
import { startCluster, stopClusters } from "../test/support/postgres/cluster.ts";
import { cpuSecondsOfFamily } from "./cputime.ts";
import { leaveProgramCore, takeBothCores } from "./machine.ts";

/** A PostgreSQL server of our own, on the disk, with the settings that PostgreSQL comes with. */
export type Server = Readonly<{
  /** Such as "PostgreSQL 18.1". */
  name: string;
  /** The folder of its programs. */
  binaries: string;
  /** What all its processes have used of the processor so far. */
  cpuSeconds(): number;
  /** Makes a database, empty or a copy of one that nobody is connected to, and gives its address. It is gone with the server at the latest. */
  createDatabase(source?: string): Promise<string>;
  dropDatabase(database: string): Promise<void>;
}>;

/** What the tests keep for standbys, none of which is here. */
const SETTINGS = { wal_keep_size: "0" };

/** Does work with a server, which is gone at the end. Meanwhile all that the bench starts shares both cores. */
export async function withServer<Result>(work: (server: Server) => Promise<Result>): Promise<Result> {
  await takeBothCores();
  try {
    const binaries = findBinaries();
    const { query, url } = await startCluster({ binaries, settings: SETTINGS });
    const [about] = await query("SELECT current_setting('server_version') AS version, pg_read_file('postmaster.pid') AS lock");
    const pid = Number.parseInt(String(about?.["lock"]), 10);
    let made = 0;
    return await work({
      name: `PostgreSQL ${String(about?.["version"]).split(" ")[0]}`,
      binaries,
      cpuSeconds: () => cpuSecondsOfFamily(pid),
      // Both statements end with a checkpoint, so that none is left to what is measured next.
      async createDatabase(source = url("template1")) {
        made += 1;
        const name = `bench_${made}`;
        // Copied as files, a large one takes seconds and no log.
        await queryDatabase(url(), `CREATE DATABASE ${name} TEMPLATE ${nameOf(source)} STRATEGY FILE_COPY`);
        return url(name);
      },
      async dropDatabase(database) {
        await queryDatabase(url(), `DROP DATABASE ${nameOf(database)} WITH (FORCE)`);
      },
    });
  } finally {
    await stopClusters();
    removeTemporaryFolders();
    await leaveProgramCore();
  }
}

/** Does work with a new database, which is gone at the end. */
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

/** One statement on a connection of its own, however long it takes. */
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
