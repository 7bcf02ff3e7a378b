import { afterEach, describe, expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import type { NewPlant, PlantId } from "../../src/domain/plant.ts";
import { hashOf } from "../../src/store/postgres/engine/shards.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { sharedCluster, startCluster } from "../support/postgres/cluster.ts";
import { openStore } from "../support/postgres/store.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const SHARDS = 8;
const PLANTS = 200;

const COORDINATOR = await startCluster();
const WORKERS = await Promise.all([startCluster(), startCluster()]);

/** Citus has its tables and functions where those of PostgreSQL are. */
const IN_CATALOG = "SET allow_system_table_mods = on; ";

/**
 * What the service sees of Citus, made by hand: the tables that say where shards are, and the hash. Each worker is a
 * PostgreSQL that has only its own plants, so a statement that goes to the wrong one is seen. What Citus itself does is
 * seen only on a server that has it: citus.night.ts.
 */
async function standInForCitus(database: string, shards: number, schema: string): Promise<string> {
  const url = await COORDINATOR.createDatabase(database);
  const statements = [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    `ALTER DATABASE "${database}" SET search_path TO ${schema}`,
    `CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid OID, shardid BIGINT, shardminvalue TEXT)`,
    `CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid OID)`,
    `CREATE TABLE pg_catalog.pg_dist_placement (shardid BIGINT, groupid INT)`,
    `CREATE TABLE pg_catalog.pg_dist_node (groupid INT, nodename TEXT, nodeport INT, noderole TEXT)`,
    `CREATE FUNCTION pg_catalog.worker_hash(id BIGINT) RETURNS INT LANGUAGE sql AS 'SELECT hashint8(id)'`,
    ...WORKERS.map(({ port }, group) => `INSERT INTO pg_dist_node VALUES (${group}, '127.0.0.1', ${port}, 'primary')`),
    `INSERT INTO pg_dist_placement SELECT shard, shard % ${WORKERS.length} FROM generate_series(0, ${shards - 1}) AS shard`,
  ];
  for (const sql of statements) await queryOnce(url, IN_CATALOG + sql);
  await Promise.all(
    WORKERS.map(async (worker, group) => {
      const at = await worker.createDatabase(database);
      for (const sql of workerStatements(group, shards, schema)) await queryOnce(at, IN_CATALOG + sql);
    }),
  );
  return url;
}

/** One table has all plants of a worker. What the service takes for the tables of shards are parts of it. */
function workerStatements(group: number, count: number, schema: string): readonly string[] {
  const shards = Array.from({ length: count }, (_, shard) => shard).filter((shard) => shard % WORKERS.length === group);
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    "CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT, words TSVECTOR NOT NULL, name_key BYTEA, added BIGINT)",
    ...shards.map(
      (shard) =>
        `CREATE VIEW ${schema}.plants_${shard} AS SELECT * FROM plants WHERE (hashint8(id) + 2147483648) * ${count} / 4294967296 = ${shard}`,
    ),
    `CREATE TABLE pg_catalog.pg_dist_local_group AS SELECT ${group} AS groupid`,
    `CREATE TABLE pg_catalog.pg_dist_placement AS SELECT unnest('{${shards.join()}}'::bigint[]) AS shardid, ${group} AS groupid`,
    "CREATE FUNCTION pg_catalog.lock_relation_if_exists(name TEXT, mode TEXT) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT true'",
    "CREATE FUNCTION pg_catalog.lock_shard_metadata(mode INT, shards BIGINT[]) RETURNS VOID LANGUAGE sql AS ''",
  ];
}

/** Makes a change on a worker do this when it asks for the lock of its shards. */
const lockThat = (statement: string) =>
  `CREATE OR REPLACE FUNCTION pg_catalog.lock_shard_metadata(mode INT, shards BIGINT[]) RETURNS VOID LANGUAGE plpgsql AS $$ BEGIN ${statement}; END $$`;

/** What distributes the table on Citus. */
async function distribute(url: string, shards: number): Promise<void> {
  const lowest = `(-2147483648 + shard * 4294967296 / ${shards})::text`;
  await queryOnce(
    url,
    `INSERT INTO pg_dist_shard SELECT 'plants'::regclass, shard, ${lowest} FROM generate_series(0::bigint, ${shards - 1}) AS shard`,
  );
  await queryOnce(url, "INSERT INTO pg_dist_partition VALUES ('plants'::regclass)");
}

/** A service that began before the plants were distributed. */
async function startOnWorkers(database: string, { shards = SHARDS, schema = "public" } = {}) {
  const url = await standInForCitus(database, shards, schema);
  const service = await startTestService({ database: url, queueWaitMs: "3000" });
  await distribute(url, shards);
  await until("the service has found the workers", () => service.logged.some((line) => line.includes("workers_found")));
  const headers = { "content-type": "application/json" };
  const ask = (method: string, path: string, body?: unknown) =>
    service.request(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const statuses = (requests: readonly Request[]) => Promise.all(requests.map(async (request) => (await ask(...request)).status));
  const create = async (ids: readonly number[], name = "a") => new Set(await statuses(ids.map((id) => ["POST", "/plants", { id, name }])));
  async function importAll(ids: readonly number[], name = "a", query = ""): Promise<unknown> {
    const body = ids.map((id) => `{"id":${id},"name":"${name}"}\n`).join("");
    const init = { method: "POST", headers: { "content-type": "application/x-ndjson" }, body };
    return (await service.request(`/plants/import${query}`, init)).json();
  }
  // That changes are not logged any more is true: the store began with a log.
  const complaints = () =>
    service.logged.filter((line) => /"level":"(warn|error)"/.test(line) && !line.includes('"event":"changes_not_logged"'));
  return { ...service, ask, statuses, create, importAll, complaints };
}

type Request = readonly [method: string, path: string, body?: unknown];

/** The ids that each server has, the coordinator first. */
function stored(database: string): Promise<number[][]> {
  return Promise.all(
    [COORDINATOR, ...WORKERS].map(async (server) =>
      (await server.query("SELECT id::text FROM plants", database)).map(({ id }) => Number(id)).toSorted((a, b) => a - b),
    ),
  );
}

function shardOf(id: number, shards = SHARDS): number {
  return Math.floor(((hashOf(asPlantId(BigInt(id))) + 2 ** 31) / 2 ** 32) * shards);
}

function workerOf(id: number): number {
  return shardOf(id) % WORKERS.length;
}

/** What each server should have of these ids, the coordinator first. */
function expected(ids: readonly number[]): number[][] {
  return [[], ...WORKERS.map((_, worker) => ids.filter((id) => workerOf(id) === worker))];
}

const ALL = Array.from({ length: PLANTS }, (_, id) => id);

describe("the hash of an id", () => {
  it("is PostgreSQL's hashint8, for ids of all sizes", async () => {
    const ids = Array.from({ length: 5000 }, (_, at) => BigInt.asIntN(64, BigInt(at) ** 7n * 1_000_000_007n * (at % 2 === 0 ? 1n : -1n)));
    const all = [...ids, 0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, -(2n ** 32n)];
    const url = await (await sharedCluster()).createDatabase();
    const rows = await queryOnce(
      url,
      `SELECT hashint8(id) AS hash FROM unnest('{${all.join()}}'::bigint[]) WITH ORDINALITY AS v (id, at) ORDER BY at`,
    );
    expect(all.map((id) => hashOf(id as PlantId))).toEqual(rows.map(({ hash }) => Number(hash)));
  });
});

describe("a service whose database has its plants on workers", () => {
  afterEach(() => Promise.all(WORKERS.map((worker) => worker.start())));

  it("asks each worker for its own plants: creates, repeats, reads, changes, deletes and imports, and counts each line once", async () => {
    const service = await startOnWorkers("each");
    const { importAll, stop } = service;
    expect(await useEach(service, ALL, () => stored("each"))).toEqual(expected(ALL));
    expect(await stored("each")).toEqual([[], [], []]);
    const many = Array.from({ length: 5000 }, (_, id) => id);
    expect(await importAll(many)).toMatchObject({ read: 5000, created: 5000 });
    expect(await stored("each")).toEqual(expected(many));
    expect(await importAll(many)).toMatchObject({ read: 5000, unchanged: 5000 });
    expect(await importAll(many, "b")).toMatchObject({ read: 5000, refused: 5000 });
    expect(await importAll(many, "b", "?onConflict=replace")).toMatchObject({ read: 5000, replaced: 5000 });
    await stop();
  });

  it("serves the plants of other workers while one is down, and is ready as long as one is up", async () => {
    const { ask, statuses, create, stop } = await startOnWorkers("down");
    await create(ALL);
    const [there, away] = [0, 1].map((worker) => ALL.filter((id) => workerOf(id) === worker).slice(0, 20));
    const ofBoth = (ids: readonly number[]): Request[] =>
      ids.flatMap((id) => [
        ["GET", `/plants/${id}`],
        ["POST", "/plants", { id, name: "a" }],
        ["PUT", `/plants/${id}`, { name: "a" }],
      ]);
    await WORKERS[1].stop();
    const [lost, kept] = await Promise.all([statuses(ofBoth(away!)), statuses(ofBoth(there!))]);
    expect(new Set(kept)).toEqual(new Set([200]));
    expect(new Set(lost)).toEqual(new Set([503]));
    expect((await ask("GET", "/readyz")).status).toBe(200);
    expect(await (await ask("GET", "/readyz")).json()).toEqual({
      status: "ok",
      missing: expect.stringContaining("1 of 2 database servers"),
    });
    await WORKERS[0].stop();
    await until("the service is not ready", async () => (await ask("GET", "/readyz")).status === 503);
    await WORKERS[1].start();
    await until("the service is ready", async () => (await ask("GET", "/readyz")).status === 200);
    expect(new Set(await statuses(ofBoth(away!)))).toEqual(new Set([200]));
    await WORKERS[0].start();
    await until("nothing is missing", async () => (await (await ask("GET", "/readyz")).text()) === '{"status":"ok"}');
    await stop();
  });

  /** A table that is a shard's, as the worker keeps it for a while after a move, and how many plants it has. */
  async function keepTable(database: string, shard: number, schema = "public") {
    const worker = WORKERS[shard % WORKERS.length]!;
    await worker.query(`DROP VIEW ${schema}.plants_${shard}`, database);
    await worker.query(`CREATE TABLE ${schema}.plants_${shard} (LIKE plants INCLUDING ALL)`, database);
    return async () => (await worker.query(`SELECT id FROM ${schema}.plants_${shard}`, database)).length;
  }

  /** All that can be done to single plants, ending with nothing. Returns what is counted between. */
  async function useEach<Counted>(
    { ask, statuses }: Awaited<ReturnType<typeof startOnWorkers>>,
    ids: readonly number[],
    count: () => Promise<Counted>,
  ) {
    const each = async (method: string, body?: object) =>
      new Set(await statuses(ids.map((id) => [method, method === "POST" ? "/plants" : `/plants/${id}`, body && { id, ...body }])));
    const seen: unknown[] = [];
    for (const name of ['a "\\', 'a "\\', "b"]) seen.push(await each("POST", { name, tag: "a\u0000b" }));
    const counted = await count();
    seen.push(await each("PUT", { name: "c" }));
    seen.push(
      new Set(await Promise.all(ids.map(async (id) => (await (await ask("GET", `/plants/${id}`)).text()).replace(String(id), "")))),
    );
    seen.push(await each("DELETE"));
    expect(seen).toEqual([[200], [200], [409], [200], ['{"id":,"name":"c"}'], [204]].map((all) => new Set(all as unknown[])));
    return counted;
  }

  it("asks the tables of shards themselves, in any schema, and not any more once their worker says that a shard is elsewhere", async () => {
    const schema = '"Other plants"';
    const service = await startOnWorkers("tables", { schema });
    const ofShard = ALL.filter((id) => shardOf(id) === 2);
    const count = await keepTable("tables", 2, schema);
    for (const ids of [ofShard, ofShard.slice(0, 1), ALL])
      expect(await useEach(service, ids, count)).toBe(ids === ALL ? ofShard.length : ids.length);
    await WORKERS[0].query("DELETE FROM pg_dist_placement WHERE shardid = 2", "tables");
    for (const ids of [ofShard, ofShard.slice(0, 1), ALL]) expect(await useEach(service, ids, count)).toBe(0);
    await service.stop();
  });

  it("creates again what was deleted where its shard is now, though a look finds it where the shard was", async () => {
    const { importAll, stop } = await startOnWorkers("looks");
    expect(await importAll(ALL)).toMatchObject({ created: ALL.length });
    await keepTable("looks", 2);
    await WORKERS[0].query("INSERT INTO plants_2 SELECT * FROM plants WHERE (hashint8(id) + 2147483648) * 8 / 4294967296 = 2", "looks");
    // With its lock the worker learns that the shard is elsewhere. As the change is rolled back, it forgets that again.
    await WORKERS[0].query(lockThat("DELETE FROM pg_dist_placement WHERE shardid = 2 AND 2 = ANY (shards)"), "looks");
    expect(await importAll(ALL)).toMatchObject({ unchanged: ALL.length });
    // All but those that a confirmation of one plant of the shard might take.
    const gone = ALL.filter((id) => shardOf(id) === 2).slice(1, -1);
    await WORKERS[0].query(`DELETE FROM plants WHERE id IN (${gone.join()})`, "looks");
    await importAll(ALL);
    expect(await stored("looks")).toEqual(expected(ALL));
    await stop();
  });

  const makeLocksSlow = (database: string, seconds: number) => WORKERS[0].query(lockThat(`PERFORM pg_sleep(${seconds})`), database);

  async function untilLocking(database: string): Promise<void> {
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    await until("a change waits for its lock", async () => (await WORKERS[0].query(waiting, database)).length > 0);
  }

  it("sees behind its lock that a shard has moved meanwhile, whatever isolation the database has as its default", async () => {
    const { ask, stop } = await startOnWorkers("isolation");
    const count = await keepTable("isolation", 2);
    await WORKERS[0].query("ALTER DATABASE isolation SET default_transaction_isolation = 'repeatable read'", "isolation");
    await makeLocksSlow("isolation", 1);
    const id = ALL.find((one) => shardOf(one) === 2)!;
    const created = ask("POST", "/plants", { id, name: "a" });
    await untilLocking("isolation");
    await WORKERS[0].query("DELETE FROM pg_dist_placement WHERE shardid = 2", "isolation");
    expect((await created).status).toBe(200);
    expect(await count()).toBe(0);
    expect((await stored("isolation"))[1]).toEqual([id]);
    await stop();
  });

  it("asks Citus again for what it did not change of several plants: it may have planned for where a shard was", async () => {
    const url = await standInForCitus("planned", SHARDS, "public");
    await (await openStore(url)).close();
    await distribute(url, SHARDS);
    for (const sql of [
      "DROP VIEW plants_2",
      // Each plant is missed once.
      "CREATE TABLE missed (id BIGINT PRIMARY KEY)",
      `CREATE FUNCTION miss() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.missed VALUES (OLD.id) ON CONFLICT DO NOTHING;
        IF FOUND THEN RETURN NULL; END IF;
        RETURN COALESCE(NEW, OLD); END $$`,
      "CREATE TRIGGER misses BEFORE UPDATE OR DELETE ON plants FOR EACH ROW EXECUTE FUNCTION miss()",
    ])
      await WORKERS[0].query(sql, "planned");
    const { plants, close } = await openStore(url);
    const all = ALL.filter((id) => workerOf(id) === 0).map((id) => ({ id: asPlantId(BigInt(id)), name: "a" }));
    await Promise.all(all.map((plant) => plants.create(plant)));
    const change = (from: NewPlant, to?: NewPlant) => plants.compareAndSwap({ from, to });
    expect(new Set(await Promise.all(all.map((from) => change(from, { ...from, tag: "t" }))))).toEqual(new Set([true]));
    await WORKERS[0].query("TRUNCATE missed", "planned");
    expect(new Set(await Promise.all(all.map((from) => change({ ...from, tag: "t" }))))).toEqual(new Set([true]));
    expect(await WORKERS[0].query("SELECT id FROM plants", "planned")).toEqual([]);
    // One that is refused when it is asked for again: the others are made all the same, and their callers hear so.
    for (const sql of [
      "TRUNCATE missed",
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$",
      `CREATE TRIGGER refuses BEFORE UPDATE ON plants FOR EACH ROW WHEN (OLD.id = ${all.at(-1)!.id}) EXECUTE FUNCTION refuse()`,
    ])
      await WORKERS[0].query(sql, "planned");
    await Promise.all(all.map((plant) => plants.create(plant)));
    const others = all.slice(0, -1).map((from) => change(from, { ...from, tag: "t" }));
    await Promise.allSettled([change(all.at(-1)!, { ...all.at(-1)!, tag: "t" })]);
    expect(new Set(await Promise.all(others))).toEqual(new Set([true]));
    await close();
  });

  it("names only the tables that have the plants when its worker has many, and keeps each plant in its table in whatever order plants come", async () => {
    const many = 80;
    const { create, importAll, stop } = await startOnWorkers("many", { shards: many });
    const count = await keepTable("many", 2);
    await WORKERS[0].query("DROP VIEW plants_4", "many");
    const ids = Array.from({ length: 6000 }, (_, id) => id).filter((id) => shardOf(id, many) !== 4);
    expect(await create(ids.slice(0, PLANTS))).toEqual(new Set([200]));
    // Citus, which is asked when a table is missing, would not have found this table.
    expect(await count()).toBe(ids.slice(0, PLANTS).filter((id) => shardOf(id, many) === 2).length);
    // Each file has plants of all shards.
    for (const file of [ids.slice(PLANTS, 3000), ids.slice(3000).toReversed()])
      expect(await importAll(file)).toMatchObject({ created: file.length });
    const kept = await WORKERS[0].query("SELECT id FROM plants_2 ORDER BY id", "many");
    expect(kept.map(({ id }) => Number(id))).toEqual(ids.filter((id) => shardOf(id, many) === 2));
    await stop();
  });

  for (const [at, [what, statement]] of [
    ["its table is gone", "DROP VIEW plants_2"],
    ["it may not be locked", lockThat("RAISE insufficient_privilege")],
    // As Citus of a shard that was split: an internal error of the server, not one that someone raises.
    ["it is unknown", lockThat("PERFORM ts_token_type(1::oid)")],
    ["it has another table", lockThat("PERFORM id FROM public.plants_renamed")],
    ["it has another column", lockThat("PERFORM renamed FROM public.plants")],
  ].entries())
    it(`asks Citus about a shard when ${what}, and is well`, async () => {
      const service = await startOnWorkers(`stale${at}`);
      await WORKERS[0].query(statement!, `stale${at}`);
      await useEach(service, ALL, async () => 0);
      expect(service.complaints()).toEqual([]);
      await service.stop();
    });

  it("asks for plants where they are once their worker has none, as after undistribute_table, and is well", async () => {
    const { ask, logged, create, complaints, stop } = await startOnWorkers("undistributed");
    expect(await create(ALL)).toEqual(new Set([200]));
    let isOver = false;
    const seen = new Set<unknown>();
    const reading = ALL.slice(0, 32).map(async (id) => {
      while (!isOver) {
        seen.add((await ask("GET", `/plants/${id}`)).status);
        seen.add((await ask("POST", "/plants", { id, name: "a" })).status);
      }
    });
    const rows = ALL.map((id) => `(${id}, 'a', '', '38', 0)`).join();
    await COORDINATOR.query(
      `INSERT INTO plants (id, name, words, name_key, added) VALUES ${rows}; DELETE FROM pg_dist_shard`,
      "undistributed",
    );
    await Promise.all(WORKERS.map((worker) => worker.query("DROP TABLE plants CASCADE", "undistributed")));
    await until("the workers are left", () => logged.some((line) => line.includes('"workers":[]')));
    isOver = true;
    await Promise.all(reading);
    expect(seen).toEqual(new Set([200]));
    expect(complaints()).toEqual([]);
    await stop();
  });

  /**
   * Makes reads through the coordinator fail as those of Citus do that cannot log in to a worker, for as long as the table
   * `away` has a row.
   */
  async function makeReadsFail(database: string): Promise<void> {
    const reach =
      "CREATE SUBSCRIPTION none CONNECTION ''host=127.0.0.1 port=1'' PUBLICATION none WITH (create_slot = false, enabled = false)";
    const statements = [
      "CREATE TABLE away (row INT)",
      `CREATE FUNCTION reach() RETURNS INT LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT FROM public.away) THEN EXECUTE '${reach}'; END IF; RETURN 1; END $$`,
      "ALTER TABLE plants RENAME TO plants_all",
      // Without a tag, a plan may find nothing to join with a read that fails.
      "INSERT INTO plants_all (id, name, tag, words, name_key, added) VALUES (0, 'a', 't', '', '38', 0)",
      "CREATE VIEW plants AS SELECT plants_all.* FROM plants_all, reach()",
      "UPDATE pg_dist_shard SET logicalrelid = 'plants'::regclass",
    ];
    // In one transaction: reads go on meanwhile.
    await COORDINATOR.query(statements.join(";"), database);
  }

  it("says within seconds, without any request, that the coordinator cannot read from a worker, and that it can again", async () => {
    const { ask, logged, statuses, stop } = await startOnWorkers("unread");
    const ready = async (): Promise<unknown> => (await ask("GET", "/readyz")).json();
    const told = () => logged.filter((line) => line.includes("store_trouble"));
    await makeReadsFail("unread");
    await COORDINATOR.query("INSERT INTO away VALUES (1)", "unread");
    await until("it is in the log", () => told().length > 0);
    expect(told()[0]).toMatch(/"server":"those behind .*could not connect to the publisher/);
    expect(await ready()).toEqual({ status: "ok", missing: expect.stringContaining("The coordinator cannot read from all") });
    expect(
      await statuses([
        ["GET", "/plants"],
        ["GET", "/tags"],
        ["GET", "/plants/count"],
        ["POST", "/plants", { id: 1, name: "a" }],
      ]),
    ).toEqual([503, 503, 503, 200]);
    await COORDINATOR.query("DELETE FROM away", "unread");
    await until("nothing is missing", async () => Bun.deepEquals(await ready(), { status: "ok" }));
    expect(await statuses([["GET", "/plants"]])).toEqual([200]);
    // A list that fails is told at once.
    await COORDINATOR.query("INSERT INTO away VALUES (1)", "unread");
    expect(await statuses([["GET", "/plants"]])).toEqual([503]);
    expect(await ready()).toMatchObject({ missing: expect.any(String) });
    await stop();
  });

  it("leaves plants to Citus whose shard has a copy, also before it knows of that, as Citus alone keeps copies alike", async () => {
    const { create, stop } = await startOnWorkers("copies");
    const count = await keepTable("copies", 2);
    await WORKERS[0].query("INSERT INTO pg_dist_placement VALUES (2, 1)", "copies");
    const [first, second] = ALL.filter((one) => shardOf(one) === 2);
    await create([first!]);
    expect(await count()).toBe(0);
    expect((await stored("copies"))[1]).toEqual([first!]);
    await queryOnce(COORDINATOR.url("copies"), "INSERT INTO pg_dist_placement VALUES (2, 1)");
    await until("the plants are asked of the coordinator", async () => {
      await create([second!]);
      return (await stored("copies"))[0]!.includes(second!);
    });
    await stop();
  });

  it("follows a shard that moves", async () => {
    const { ask, create, stop } = await startOnWorkers("moves");
    const id = ALL.find((one) => workerOf(one) === 0)!;
    const codes = new Set<unknown>();
    const createOne = async (one: number) => {
      const response = await ask("POST", "/plants", { id: one, name: "a" });
      codes.add(response.status === 200 ? 200 : ((await response.json()) as { error: number }).error);
    };
    await makeLocksSlow("moves", 2);
    // More than its two commits take.
    const first = Array.from({ length: 600 }, (_, at) => createOne(at));
    await untilLocking("moves");
    await queryOnce(COORDINATOR.url("moves"), "UPDATE pg_dist_placement SET groupid = 1");
    await Promise.all(first);
    await until("the plant goes to the other worker", async () => {
      await createOne(id);
      return (await stored("moves"))[2]!.includes(id);
    });
    // The service does not shut down, so it must not say so.
    expect(codes.difference(new Set([200, 50301]))).toEqual(new Set());
    // What is left is one shard without a hash, as of a table that Citus has and does not distribute.
    await queryOnce(COORDINATOR.url("moves"), "DELETE FROM pg_dist_shard WHERE shardid <> 0");
    await queryOnce(COORDINATOR.url("moves"), "UPDATE pg_dist_shard SET shardminvalue = NULL");
    await until("the plants are in one table again", async () => {
      await create([1]);
      return (await stored("moves"))[0]!.includes(1);
    });
    await stop();
  });
});
