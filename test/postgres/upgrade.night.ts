import { afterEach, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../src/client/client.ts";
import { PLANT_ID_MIN } from "../../src/domain/plant.ts";
import { runCheck } from "../support/checked.ts";
import { startFlood } from "../support/flood.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { RELEASED } from "../support/postgres/released-steps.ts";
import { killServices, spawnService } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { inForm } from "../support/run-form.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

/** How many of them a replica must know. */
const VERSION = 8;

/** Steps that a schema has before it is upgraded: none, without and with the columns of the orders, and all. */
const FROM = inForm(
  [0, 1, 8, 11, RELEASED.length],
  Array.from({ length: RELEASED.length + 1 }, (_, steps) => steps),
);

const FEW = 2000;
/** With little memory, their indexes take seconds. Where a reader holds the build up, few plants do. */
const MANY = 200_000;

const LAST_STEP = "  { text: `CREATE INDEX IF NOT EXISTS plants_by_newest ON store.plants (added, id)` },\n";

/** No bug: a version to come, with one more index. */
const NEXT: readonly PlantedBug[] = [
  {
    file: "src/store/postgres/engine/schema.ts",
    from: LAST_STEP,
    to: `${LAST_STEP}  { text: "CREATE INDEX IF NOT EXISTS plants_by_next ON store.plants USING GIN (words)" },\n`,
  },
];

const cluster = await startCluster({ settings: { maintenance_work_mem: "1MB" } });
// All services of this file together would take more connections than the server has.
afterEach(killServices);

type Database = Readonly<{ url: string; name: string; query: (sql: string) => ReturnType<typeof cluster.query> }>;

function toDatabase(url: string): Database {
  const name = new URL(url).pathname.slice(1);
  return { url, name, query: (sql) => cluster.query(sql, name) };
}

/** A database that a version with so many steps made, with plants. */
async function makeDatabase(steps: number, plants: number): Promise<Database> {
  const database = toDatabase(await cluster.createDatabase());
  const { query } = database;
  await query("CREATE TABLE plant_store_schema (id BIGINT PRIMARY KEY, version BIGINT NOT NULL)");
  await query(`INSERT INTO plant_store_schema VALUES (1, ${Math.min(steps, VERSION)})`);
  for (const step of RELEASED.slice(0, steps)) await query(step);
  if (steps > 0)
    await query(
      `INSERT INTO plants (id, name, tag, words) SELECT -at, 'plant ' || at, 'tag ' || at % 7, ('plant ' || at || ' w' || at * 7919::bigint % 100003)::tsvector FROM generate_series(1, ${plants}) AS at`,
    );
  return database;
}

function serve({ url }: Database, bugs: readonly PlantedBug[] = [], data = temporaryFolder()) {
  // A busy machine fails no test.
  const flags = ["--database", url, "--queue-wait-ms", "10000"];
  return { ...spawnService({ data, flags, ...(bugs.length > 0 ? { root: plantBugs(bugs) } : {}) }), data };
}

/** The indexes of the store, and the version that it states. */
async function describeSchema({ query }: Database) {
  const indexes = await query(
    "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indisvalid AND indrelid IN ('plants'::regclass, 'tokens'::regclass) ORDER BY 1",
  );
  const [row] = await query("SELECT version FROM plant_store_schema WHERE id = 1");
  return { version: Number(row!["version"]), indexes: indexes.map(({ name }) => name) };
}

const OF_PLANTS = ["plants_by_name", "plants_by_newest", "plants_by_tag", "plants_by_word", "plants_pkey", "plants_without_tag"];
const INDEXES = [...OF_PLANTS, "tokens_by_hash", "tokens_by_parent", "tokens_pkey"];
const NEWEST = { version: VERSION, indexes: INDEXES };

async function isBuilding({ query }: Database): Promise<boolean> {
  return (await query("SELECT FROM pg_stat_progress_create_index WHERE datname = current_database()")).length > 0;
}

const WRITE_PAUSE_MS = 5;

/** The longest wait of a write as a share of the whole migration: with a lock, it waits for the build of the index of words, the longest of five. */
const SHARE_MAX = 0.2;

/** Writes as a replica of an old version does. `stop` returns the longest time between two commits, by a patient clock. */
async function startWriter({ url }: Database) {
  const client = new Client({ connectionString: url });
  await client.connect();
  let isRunning = true;
  let longestMs = 0;
  const clock = startPatientClock();
  let last = clock.ms();
  const done = (async () => {
    for (let id = 1; isRunning; id += 1) {
      await client.query("INSERT INTO plants (id, name, words) VALUES ($1, $2, 'written'::tsvector)", [id, `written ${id}`]);
      longestMs = Math.max(longestMs, clock.ms() - last);
      last = clock.ms();
      // One that never rests would take a processor from the migration.
      await sleep(WRITE_PAUSE_MS);
    }
  })();
  return {
    async stop() {
      isRunning = false;
      await done;
      await client.end();
      return longestMs;
    },
  };
}

/** No index is whole while there is an older snapshot: a build lasts until this client has ended. */
async function startReader({ url }: Database): Promise<Client> {
  const reader = new Client({ connectionString: url });
  await reader.connect();
  await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await reader.query("SELECT count(*) FROM plant_store_schema");
  return reader;
}

describe("an upgrade", () => {
  for (const steps of FROM) {
    it(`finds every plant of a schema with ${steps} steps, and those that were written meanwhile`, async () => {
      const database = await makeDatabase(steps, FEW);
      const writer = steps > 0 ? await startWriter(database) : undefined;
      const { started, data } = serve(database);
      const { address } = await started;
      await writer?.stop();
      expect(await describeSchema(database)).toEqual(NEWEST);
      const statistics = await database.query("SELECT stxname FROM pg_statistic_ext WHERE stxrelid = 'plants'::regclass");
      expect(statistics).toEqual([{ stxname: "plants_of_tag" }]);
      if (steps === 0) return;
      const client = createClient({ url: address!, token: await readToken(data) });
      for (const q of [`${FEW}`, "written"]) expect(await Array.fromAsync(client.list({ q }))).not.toEqual([]);
      const plants = (await database.query("SELECT FROM plants")).length;
      // Keys of the names come a moment later: a list by name looks for what was written without one.
      await until("Every plant has a place", async () => {
        await Array.fromAsync(client.list({ sort: "-name" })).catch(() => {});
        return (await database.query("SELECT FROM plants WHERE name_key IS NULL")).length === 0;
      });
      for (const sort of ["name", "-name", "newest", "oldest"] as const) {
        const ids = (await Array.fromAsync(client.list({ sort, limit: 1000 }))).map(({ id }) => id);
        expect([new Set(ids).size, ids.length]).toEqual([plants, plants]);
      }
    });
  }

  it("waits with a column until an export has ended, and meanwhile keeps no write waiting for long", async () => {
    const database = await makeDatabase(9, FEW);
    const reader = await startReader(database);
    await reader.query("SELECT count(*) FROM plants");
    const writer = await startWriter(database);
    const { started, lines } = serve(database);
    const isWaiting = () => lines.some((line) => line.includes('"event":"column_waiting"'));
    await until("It waits", () => Promise.resolve(isWaiting()));
    await sleep(3000);
    await reader.end();
    await started;
    expect(await writer.stop()).toBeLessThan(2000);
    expect(await describeSchema(database)).toEqual(NEWEST);
  });

  it("keeps no write waiting while it builds indexes", async () => {
    const database = await makeDatabase(1, MANY);
    const writer = await startWriter(database);
    const clock = startPatientClock();
    await serve(database).started;
    const tookMs = clock.ms();
    expect((await writer.stop()) / tookMs).toBeLessThan(SHARE_MAX);
    expect(await describeSchema(database)).toEqual(NEWEST);
  });

  it("is completed by the services that start next if it is killed while it builds an index", async () => {
    const database = await makeDatabase(1, FEW);
    const reader = await startReader(database);
    const cut = serve(database);
    await until("It builds", async () => (await database.query("SELECT FROM pg_index WHERE NOT indisvalid")).length > 0);
    await cut.end("SIGKILL");
    // The server works on for a client that is gone, until it writes to it.
    await database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index WHERE datname = current_database()");
    await until("It is cut", async () => !(await isBuilding(database)));
    await reader.end();
    const others = [serve(database), serve(database)];
    await Promise.all(others.map(({ started }) => started));
    expect(others.some(({ lines }) => lines.some((line) => line.includes("removing what a cut left")))).toBe(true);
    expect(await describeSchema(database)).toEqual(NEWEST);
  });
});

describe("replicas of the version before", () => {
  for (const sort of ["name", "-name"] as const)
    it(`create and rename plants that get their places by name a moment later, sort=${sort}`, async () => {
      const database = await makeDatabase(RELEASED.length, 0);
      const { started, data } = serve(database);
      const client = createClient({ url: (await started)["address"]!, token: await readToken(data) });
      /** From A to Z. */
      const names = async () => {
        const listed = (await Array.fromAsync(client.list({ sort }))).map(({ name }) => name);
        return sort === "name" ? listed : listed.toReversed();
      };
      await until("Names have keys", async () => (await names().catch(() => undefined)) !== undefined);
      for (const name of ["b", "d"]) await client.add({ name });
      await database.query(`INSERT INTO plants (id, name, words) VALUES (1, 'c', 'c'), (${PLANT_ID_MIN}, 'a', 'a')`);
      await until("They have their places", async () => (await names()).join("") === "abcd");
      await database.query("UPDATE plants SET name = 'e', words = 'e' WHERE name = 'a'");
      // The list that meets it at its old place has it moved.
      expect((await names()).toSorted().join("")).toBe("bcde");
      await until("It has moved", async () => (await names()).join("") === "bcde");
      expect((await Array.fromAsync(client.list({ sort: "newest" }))).map(({ name }) => name)).toEqual(["c", "e", "d", "b"]);
    });

  it("go on, and start again, before, while and after the next version builds an index", async () => {
    const database = await makeDatabase(RELEASED.length, FEW);
    const old = serve(database);
    const { address } = await old.started;
    const flood = startFlood({ url: address!, token: await readToken(old.data), firstId: 1n, clients: 4 });
    const reader = await startReader(database);
    const next = serve(database, NEXT);
    await until("The next version builds", () => isBuilding(database));
    const again = serve(database);
    await again.started;
    await until("The next version tells how far it is", () => next.lines.some((line) => line.includes('"event":"index_build"')));
    expect(await isBuilding(database)).toBe(true);
    await reader.end();
    await next.started;
    await serve(database).started;
    const { answered, others } = await flood.stop();
    expect(answered.length).toBeGreaterThan(10);
    expect(others).toEqual([]);
    expect(await describeSchema(database)).toEqual({ version: VERSION, indexes: ["plants_by_next", ...INDEXES].toSorted() });
  });
});

describe("plants with words of the version before", () => {
  const NAMES = ["Œillet d’Inde", "Łopian większy", "Rødgran", "Monstera deliciosa", "Arctostaphylos uva-ursi", "×Cuprocyparis"];

  /** `version`: of the words, if it was noted. The last plant has a key in which its sign counts. */
  async function makeOld(version?: number): Promise<Database> {
    const database = await makeDatabase(RELEASED.length, 0);
    if (version !== undefined) await database.query(`INSERT INTO plant_store_schema VALUES (2, ${version})`);
    const words = [
      "'œillet' 'd' 'inde'",
      "'łopian' 'wiekszy'",
      "'rødgran'",
      "'monstera' 'deliciosa'",
      "'arctostaphylos' 'uva' 'ursi'",
      "'cuprocyparis'",
    ];
    for (const [at, name] of NAMES.entries())
      await database.query(`INSERT INTO plants (id, name, words) VALUES (${at}, '${name}', $$${words[at]}$$::tsvector)`);
    await database.query("UPDATE plants SET name_key = decode('00', 'hex') WHERE id = 5");
    return database;
  }

  const isNoted = async ({ query }: Database) => (await query("SELECT FROM plant_store_schema WHERE id = 2 AND version = 3")).length > 0;
  const wordsOf = async ({ query }: Database) =>
    (await query("SELECT words::text AS words FROM plants ORDER BY id")).map((row) => row["words"]);
  const RENEWED = [
    "'d' 'dinde' 'inde' 'oeillet'",
    "'lopian' 'wiekszy'",
    "'rodgran'",
    "'deliciosa' 'monstera'",
    "'arctostaphylos' 'ursi' 'uva' 'uvaursi'",
    "'cuprocyparis'",
  ];

  it("get those of today in the background, once, and are found as people type them", async () => {
    const database = await makeOld();
    const check = () => runCheck([], { environment: { PLANT_STORE_DATABASE: database.url } });
    expect(await check()).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expect.stringMatching(/^note +search +plants with words of an older version: 5\./m),
    });
    const { started, data, end } = serve(database);
    const client = createClient({ url: (await started)["address"]!, token: await readToken(data) });
    await until("All are renewed", () => isNoted(database));
    expect(await wordsOf(database)).toEqual(RENEWED);
    for (const [at, q] of ["oeillet dinde", "lopian", "rødgran", "monstera", "uvaursi", "xcuprocyparis"].entries())
      expect(await Array.fromAsync(client.list({ q }))).toMatchObject([{ name: NAMES[at] }]);
    const byName = await Array.fromAsync(client.list({ sort: "name" }));
    expect(byName.map(({ id }) => Number(id))).toEqual([4, 5, 1, 3, 0, 2]);
    await end("SIGTERM");

    await database.query("UPDATE plants SET words = $$'ours'$$ WHERE id = 2");
    expect(await check()).toMatchObject({ status: 1, stdout: expect.stringMatching(/^wrong +search .*: 2$/m) });
    const next = serve(database, [], data);
    await next.started;
    await next.end("SIGTERM");
    expect((await wordsOf(database))[2]).toBe("'ours'");
    expect(next.lines.join("\n")).not.toContain("words_renewing");
  });

  it("get them after a failure too, and where those of version 2 were noted", async () => {
    const database = await makeOld(2);
    const locker = new Client({ connectionString: database.url });
    await locker.connect();
    await locker.query("BEGIN; SELECT FROM plants WHERE id = 0 FOR UPDATE");
    const { started, lines } = serve(database);
    await started;
    await until("It waits for the lock", async () => {
      await database.query(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE public.plants%'",
      );
      return lines.some((line) => line.includes('"event":"words_behind"'));
    });
    await locker.end();
    await until("All are renewed", () => isNoted(database));
    expect(await wordsOf(database)).toEqual(RENEWED);
  });
});
