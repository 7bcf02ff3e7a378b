import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { findBinaries } from "./binaries.ts";
import { until } from "../until.ts";
import { openPostmaster, type Postmaster } from "./postmaster.ts";
import { openServer, type DatabaseServer } from "./database-server.ts";
import { findServerUser, giveToServer, serverFolder, writeForServer } from "./user.ts";

/** A PostgreSQL server of our own. Its superuser `plants` needs no password. */
export type Cluster = DatabaseServer &
  Postmaster &
  Readonly<{
    /**
     * Resolves once the new server is a synchronous standby: from then on, a commit returns only when both have it on
     * disk.
     */
    addStandby(): Promise<Standby>;
  }>;

export type Standby = Cluster &
  Readonly<{
    /** Resolves once it accepts writes. */
    promote(): Promise<void>;
  }>;

/** Settings of postgresql.conf by name. */
type Settings = Readonly<Record<string, string>>;
type ClusterOptions = Readonly<{
  binaries?: string;
  settings?: Settings;
  /** A folder in which the server stays, and is there already if it was made before; by default a temporary one. */
  folder?: string;
}>;

const USER = "plants";
const SETTINGS: Settings = {
  listen_addresses: "127.0.0.1",
  fsync: "on",
  // In the data folder, so that a killed server leaves nothing in /dev/shm.
  dynamic_shared_memory_type: "mmap",
  // A standby that was away can still catch up.
  wal_keep_size: "256MB",
};

const EXTERNAL = process.env["PLANT_STORE_TEST_POSTGRES"];
const started: Postmaster[] = [];
let shared: Promise<Cluster> | undefined;
let external: DatabaseServer | undefined;
let found: string | undefined;

/** Creates and starts a server. `stopClusters` ends it after the last test. */
export async function startCluster({
  binaries = (found ??= findBinaries()),
  settings = {},
  folder = serverFolder(),
}: ClusterOptions = {}): Promise<Cluster> {
  const data = join(folder, "data");
  if (existsSync(data)) return openCluster({ binaries, data });
  mkdirSync(folder, { recursive: true });
  giveToServer(folder);
  const encoding = ["--encoding=UTF8", "--locale=C"];
  run(join(binaries, "initdb"), ["-D", data, "-U", USER, "--auth=trust", ...encoding, "--no-sync", "--no-instructions"]);
  addSettings(join(data, "postgresql.conf"), { ...SETTINGS, ...settings });
  return openCluster({ binaries, data });
}

/**
 * The server that all tests of a run share: that of PLANT_STORE_TEST_POSTGRES (a postgres:// URL), or one of our own.
 * Tests may neither stop nor change it. If Bun has ended it together with a test that took too long, it is started
 * again.
 */
export async function sharedCluster(): Promise<DatabaseServer> {
  if (EXTERNAL !== undefined) return (external ??= openServer(EXTERNAL));
  const cluster = await (shared ??= startCluster());
  await cluster.start();
  return cluster;
}

/** Ends all servers, and leaves that of PLANT_STORE_TEST_POSTGRES as it was. */
export async function stopClusters(): Promise<void> {
  await external?.dropDatabases();
  await Promise.all(started.splice(0).map((postmaster) => postmaster.drop()));
}

async function openCluster({ binaries, data }: Readonly<{ binaries: string; data: string }>): Promise<Cluster> {
  const postmaster = await openPostmaster({ binaries, data });
  started.push(postmaster);
  await postmaster.start();
  const server = openServer(`postgres://${USER}@127.0.0.1:${postmaster.port}/postgres`);

  async function addStandby(): Promise<Standby> {
    const copy = join(serverFolder(), "data");
    await copyData({ url: server.url(), from: data, to: copy });
    const primary = `host=127.0.0.1 port=${postmaster.port} user=${USER}`;
    addSettings(join(copy, "postgresql.auto.conf"), { primary_conninfo: primary, synchronous_standby_names: "" });
    writeForServer(join(copy, "standby.signal"), "");
    const standby = await openCluster({ binaries, data: copy });
    await server.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await server.query("SELECT pg_reload_conf()");
    await until("The standby is synchronous", async () => {
      const states = await server.query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'");
      return states.length > 0;
    });
    return { ...standby, promote: async () => void (await standby.query("SELECT pg_promote()")) };
  }
  return { ...server, ...postmaster, addStandby };
}

/**
 * A base backup by hand, because the embedded binaries lack pg_basebackup:
 * https://www.postgresql.org/docs/current/continuous-archiving.html
 */
async function copyData({ url, from, to }: Readonly<{ url: string; from: string; to: string }>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', true)");
    run("cp", ["-a", from, to]);
    const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
    writeForServer(join(to, "backup_label"), rows[0]!.labelfile);
    for (const file of ["postmaster.pid", "postmaster.opts"]) rmSync(join(to, file));
  } finally {
    await client.end();
  }
}

/** Appends settings. The last one with a name counts. */
function addSettings(path: string, settings: Settings): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`);
  appendFileSync(path, lines.join(""));
}

/** Runs a program as the servers' user. */
function run(program: string, words: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, words, { ...findServerUser(), cwd: "/", encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ended with ${status}:\n${stdout}${stderr}`);
}
