import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { createToken } from "../../src/auth/secret.ts";
import type { Execute } from "../../src/store/postgres/engine/retry.ts";
import { FIND_LOCK } from "../../src/store/postgres/engine/requirements.ts";
import { watchLocks } from "../../src/store/postgres/warnings.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { inPublic } from "../support/postgres/database-server.ts";
import { openExecute, openLog, startReplicas } from "../support/postgres/store.ts";
import { killServices } from "../support/service-process.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { until } from "../support/until.ts";

const FOLLOWS_MS_MAX = 3000;

const cluster = await startCluster();
const database = await cluster.createDatabase("plants");
await cluster.query("CREATE ROLE app LOGIN");
await cluster.query("ALTER DATABASE plants OWNER TO app");
// What is too old in the log of changes is deleted now and then, on a connection that tests of too few do not expect.
const root = plantBugs([
  { file: "src/store/postgres/change-sweep.ts", from: "const SWEEP_MS = 60_000;", to: "const SWEEP_MS = 3_600_000;" },
]);
const { services, ask, askAll } = await startReplicas(Object.assign(new URL(database), { username: "app" }).href, { root });
afterAll(killServices);

const sql = (text: string) => cluster.query(text, "plants");

/** Polls the readiness of all, and nothing else, until all are ready. */
async function untilReadiness(status: number, limitMs = FOLLOWS_MS_MAX): Promise<void> {
  const clock = startPatientClock();
  const isSo = async (): Promise<boolean> => (await askAll("GET", "/readyz")).every((one) => one === status);
  while (!(await isSo())) {
    expect(clock.ms()).toBeLessThan(limitMs);
    await Bun.sleep(20);
  }
}

/** Asserts that all answer these as if the store could not be reached. */
async function expectUnavailable(requests: ReadonlyArray<readonly [method: string, path: string, body?: unknown]>): Promise<void> {
  const asked = services.flatMap((_, at) => requests.map(([method, path, body]) => ask(at, method, path, { body })));
  for (const response of await Promise.all(asked)) {
    expect([response.url, response.status, Number(response.headers.get("retry-after")) > 0]).toEqual([response.url, 503, true]);
    expect(await response.json()).toMatchObject({ error: 50301 });
  }
}

/** How all answer a new plant. */
const create = (id: number) => askAll("POST", "/plants", { body: { id, name: "Ficus" } });

const ALL_OK = [200, 200, 200];
const READYZ = [["GET", "/readyz"]] as const;
const READS = [
  ["GET", "/plants/1"],
  ["GET", "/plants"],
  ["GET", "/plants?q=ficus"],
  ["GET", "/tags"],
  ["GET", "/plants/export"],
] as const;
const CHANGES = [
  ["POST", "/plants", { id: 2, name: "Acer" }],
  ["PUT", "/plants/1", { name: "Acer" }],
  ["PATCH", "/plants/1", { name: "Acer" }],
  ["DELETE", "/plants/1"],
] as const;

describe("the readiness of three replicas", () => {
  it(`follows their database within ${FOLLOWS_MS_MAX} ms, without any other request or restart`, async () => {
    expect(await askAll("GET", "/readyz")).toEqual(ALL_OK);
    const stopping = cluster.stop();
    await untilReadiness(503);
    await stopping;
    expect(await askAll("GET", "/livez")).toEqual(ALL_OK);
    await cluster.start();
    await untilReadiness(200);
    for (const { pid } of services) expect(process.kill(pid, 0)).toBe(true);
    expect(await create(1)).toEqual(ALL_OK);
  });

  it("is refused while the database is away, and so is every read and change, with Retry-After", async () => {
    await cluster.stop();
    await expectUnavailable([...READS, ...CHANGES]);
    await expectUnavailable(READYZ);
    // Well-formed, so that only the store can tell whether it is known.
    expect(await askAll("GET", "/plants/1", { secret: createToken(randomBytes) })).toEqual([503, 503, 503]);
    expect(await askAll("GET", "/livez")).toEqual(ALL_OK);
    await cluster.start();
    await untilReadiness(200);
    expect(await askAll("GET", "/plants/1")).toEqual(ALL_OK);
    expect(await askAll("GET", "/plants/2")).toEqual([404, 404, 404]);
  });

  it("is refused while the database is read-only, without any other request, and once a change met it; reads go on", async () => {
    await setReadOnly("on");
    await untilReadiness(503);
    await setReadOnly("off");
    await untilReadiness(200);
    await setReadOnly("on");
    expect(await askAll("GET", "/plants/1")).toEqual(ALL_OK);
    await expectUnavailable(CHANGES);
    await expectUnavailable(READYZ);
    for (const [method, path] of READS) expect(await askAll(method, path)).toEqual(ALL_OK);
    await Bun.sleep(1500);
    await expectUnavailable(READYZ);
    await setReadOnly("off");
    await untilReadiness(200);
    expect(await create(3)).toEqual(ALL_OK);
  });

  for (const [why, spoil, says, mend] of [
    ["the server may lose what it commits", () => configure("synchronous_commit = off"), "", () => configure("synchronous_commit = on")],
    [
      "a crash of the server would empty a table",
      () => sql("ALTER TABLE plants SET UNLOGGED"),
      "A crash of the database would empty plants",
      () => sql("ALTER TABLE plants SET LOGGED"),
    ],
  ] as const)
    it(`is refused while ${why}, and so are changes on connections that were open before`, async () => {
      // Each replica has connections for writes.
      expect(await create(3)).toEqual(ALL_OK);
      await spoil();
      await untilReadiness(503);
      await expectUnavailable(CHANGES);
      expect(services.every(({ lines }) => lines.join().includes(says))).toBe(true);
      await mend();
      await untilReadiness(200);
      expect(await create(4)).toEqual(ALL_OK);
    });

  it("is refused while the user may not read tokens", async () => {
    await sql("ALTER TABLE tokens OWNER TO plants; GRANT INSERT, UPDATE ON tokens TO app");
    await untilReadiness(503);
    await sql("GRANT SELECT ON tokens TO app");
    await untilReadiness(200);
  });

  it("stays while the search path leads to other tables of the same names first: a service goes on with its own", async () => {
    await sql("CREATE SCHEMA app AUTHORIZATION app; CREATE TABLE app.plants (LIKE public.plants INCLUDING ALL)");
    await sql("ALTER TABLE app.plants OWNER TO app");
    // Old and new connections.
    await cluster.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'app' AND query LIKE '%plants%'");
    await untilReadiness(200);
    expect(await askAll("PUT", "/plants/1", { body: { name: "Carex" } })).toEqual(ALL_OK);
    for (const [method, path] of READS) expect(await askAll(method, path)).toEqual(ALL_OK);
    expect(await sql("SELECT FROM app.plants")).toEqual([]);
    await sql("DROP SCHEMA app CASCADE");
  });

  it("stays while someone locks the plants: reads go on, changes get 503, and the log names who it is, once", async () => {
    const holder = new Client({ connectionString: database });
    await holder.connect();
    await holder.query("BEGIN; LOCK TABLE plants IN SHARE MODE");
    await expectUnavailable(CHANGES);
    const told = () => services.map(({ lines }) => lines.filter((line) => line.includes("writes_locked")));
    await until("All have told it", () => told().every((lines) => lines.length > 0));
    await expectUnavailable(CHANGES.slice(0, 1));
    expect(await askAll("GET", "/readyz")).toEqual(ALL_OK);
    expect(await askAll("GET", "/plants/1")).toEqual(ALL_OK);
    expect(told()).toEqual(services.map(() => [expect.stringMatching(/"table":"plants","mode":"ShareLock","pid":"\d+","program":/)]));
    await holder.end();
    expect(await create(6)).toEqual(ALL_OK);
  });

  it("names no one who waits for a single plant as one who keeps all others from writing", async () => {
    const [holder, waiting] = [new Client({ connectionString: database }), new Client({ connectionString: database })];
    await Promise.all([holder.connect(), waiting.connect()]);
    const change = "UPDATE plants SET tag = tag WHERE id = 1";
    await holder.query(`BEGIN; ${change}`);
    const waits = waiting.query(change);
    const locks = () => sql("SELECT FROM pg_locks WHERE locktype = 'tuple' AND mode = 'ExclusiveLock'");
    await until("It waits", async () => (await locks()).length > 0);
    expect(await sql(inPublic(FIND_LOCK.text))).toEqual([]);
    await holder.query("COMMIT");
    await waits;
    await Promise.all([holder.end(), waiting.end()]);
  });

  it("names who keeps others from writing for long, once each time, and no one who does so for a moment, as an export on Citus", async () => {
    const pool = openExecute(database);
    const told: unknown[] = [];
    let asked = 0;
    const execute: Execute = async (...call) => {
      const rows = await pool.execute(...call);
      asked += 1;
      return rows as never;
    };
    const look = watchLocks(execute, { ...openLog(), warn: (event) => told.push(event) });
    async function whileLocked(work: () => Promise<unknown>): Promise<void> {
      const holder = new Client({ connectionString: database });
      await holder.connect();
      await holder.query("BEGIN; LOCK TABLE plants IN SHARE MODE");
      await work();
      await holder.end();
    }
    let looked: Promise<void> | undefined;
    await whileLocked(async () => {
      looked = look();
      await until("It has looked", () => asked === 1);
    });
    await looked;
    expect([asked, told]).toEqual([2, []]);
    for (const times of [1, 2]) {
      await whileLocked(async () => {
        await look();
        await look();
      });
      expect(told).toHaveLength(times);
      await look();
    }
    await pool.close();
  });

  it("stays when someone drops an index, and the log names it, once", async () => {
    const told = () => services.map(({ lines }) => lines.filter((line) => line.includes("index_missing")));
    await sql("DROP INDEX plants_by_tag");
    await until("All have told it", () => told().every((lines) => lines.length > 0));
    expect(told()).toEqual(services.map(() => [expect.stringMatching(/"level":"warn".*"index":"plants_by_tag"/)]));
    expect(await askAll("GET", "/readyz")).toEqual(ALL_OK);
    await cluster.query("CREATE INDEX plants_by_tag ON plants (left(md5(tag), 15), id) WHERE tag IS NOT NULL", "plants");
  });

  it("is refused while the synchronous standby is missing, also when no one asks for a change", async () => {
    await configure("synchronous_standby_names = absent");
    await untilReadiness(503, 15_000);
    expect(await askAll("GET", "/plants/1")).toEqual(ALL_OK);
    await configure("synchronous_standby_names = DEFAULT");
    await untilReadiness(200);
  });

  it("is refused once a change found no connection left on the server, also while each look has one, until there are more", async () => {
    await until("Only looks have connections", async () => {
      await cluster.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'app'");
      await Bun.sleep(1500);
      // The last statement of a look. Another connection would end sooner or later, and leave its place to a change.
      const looks = await cluster.query("SELECT query LIKE '%pg_dist_shard%' AS is_look FROM pg_stat_activity WHERE usename = 'app'");
      return looks.length === services.length && looks.every((row) => row["is_look"] === true);
    });
    await cluster.query(`ALTER ROLE app CONNECTION LIMIT ${services.length}`);
    expect(await askAll("GET", "/readyz")).toEqual(ALL_OK);
    await expectUnavailable(CHANGES.slice(0, 1));
    await Bun.sleep(1500);
    await expectUnavailable(READYZ);
    await cluster.query("ALTER ROLE app CONNECTION LIMIT -1");
    await untilReadiness(200);
    expect(await create(7)).toEqual(ALL_OK);
  });

  it("is refused while reads of tokens and plants get no connection, though changes have some, until there are more", async () => {
    await until("All but reads have connections", async () => {
      // A round before may have left too few.
      await cluster.query("ALTER ROLE app CONNECTION LIMIT -1");
      expect(await askAll("PUT", "/plants/7", { body: { name: "Betula" } })).toEqual(ALL_OK);
      // As it is counted, or a pool opens the next one.
      await cluster.query(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'app' AND query ~ 'FROM public\\.(tokens|plants|plant_changes)'",
      );
      const [row] = await cluster.query("SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = 'app'");
      await cluster.query(`ALTER ROLE app CONNECTION LIMIT ${Number(row!["count"])}`);
      return (await askAll("GET", "/plants/7")).every((status) => status === 503);
    });
    await Bun.sleep(1500);
    await expectUnavailable(READYZ);
    await cluster.query("ALTER ROLE app CONNECTION LIMIT -1");
    await untilReadiness(200);
    expect(await askAll("GET", "/plants/7")).toEqual(ALL_OK);
  });

  it("stays while only exports get no connection, and the log says why there are none", async () => {
    const told = () => services.every(({ lines }) => lines.slice(before.get(lines)).some((line) => line.includes("too many connections")));
    const before = new Map(services.map(({ lines }) => [lines, lines.length]));
    expect(await askAll("GET", "/plants")).toEqual(ALL_OK);
    await cluster.query("ALTER ROLE app CONNECTION LIMIT 0");
    await until("Each tells it", async () => {
      expect(await askAll("GET", "/plants/export")).toEqual([503, 503, 503]);
      return told();
    });
    await untilReadiness(200);
    expect(await askAll("GET", "/plants/7")).toEqual(ALL_OK);
    await cluster.query("ALTER ROLE app CONNECTION LIMIT -1");
    expect(await askAll("GET", "/plants/export")).toEqual(ALL_OK);
  });

  it("is refused while the user may not write plants, and stays so; plants that a policy hides are an error", async () => {
    await sql("ALTER TABLE plants OWNER TO plants; GRANT ALL ON plants TO app; ALTER TABLE plants ENABLE ROW LEVEL SECURITY");
    for (const path of ["/plants", "/plants/1", "/plants?q=ficus"]) expect(await askAll("GET", path)).toEqual([503, 503, 503]);
    await sql("ALTER TABLE plants DISABLE ROW LEVEL SECURITY");
    await untilReadiness(200);
    expect(await askAll("GET", "/plants")).toEqual(ALL_OK);
    await sql("REVOKE ALL ON plants FROM app");
    await untilReadiness(503);
    await Bun.sleep(1500);
    await expectUnavailable(READYZ);
  });
});

async function configure(setting: string): Promise<void> {
  await cluster.query(`ALTER SYSTEM SET ${setting}`);
  await cluster.query("SELECT pg_reload_conf()");
}

/** For all connections: those that are open are ended. */
async function setReadOnly(state: "on" | "off"): Promise<void> {
  await cluster.query(`ALTER DATABASE plants SET default_transaction_read_only = ${state}`);
  await cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'plants'");
}
