import { afterEach, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../src/client/client.ts";
import { createLog } from "../../src/runtime/log.ts";
import { buildIndex, INDEX } from "../../src/store/postgres/engine/index-build.ts";
import type { Statement } from "../../src/store/postgres/engine/pool.ts";
import { PLANT_ID_MIN } from "../../src/domain/plant.ts";
import { STEPS } from "../../src/store/postgres/engine/schema.ts";
import { runCheck } from "../support/checked.ts";
import { startFlood } from "../support/flood.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { inPublic } from "../support/postgres/database-server.ts";
import { spawnProcess } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { rejectionOf } from "../support/rejection.ts";
import { inForm } from "../support/run-form.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

/** The steps of the schema as they were released. This list only grows. */
const RELEASED = [
  `CREATE TABLE IF NOT EXISTS plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT, words TSVECTOR NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS plants_by_tag ON plants (left(md5(tag), 15), id) WHERE tag IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS plants_by_word ON plants USING GIN (words)`,
  `CREATE TABLE IF NOT EXISTS tokens (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, scopes TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT, revoked BIGINT
    )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS tokens_by_hash ON tokens (hash)`,
  `ALTER TABLE tokens ADD COLUMN IF NOT EXISTS parent TEXT`,
  `ALTER TABLE tokens ADD COLUMN IF NOT EXISTS used BIGINT`,
  `CREATE INDEX IF NOT EXISTS tokens_by_parent ON tokens (parent) WHERE parent IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS plants_without_tag ON plants (id) WHERE tag IS NULL`,
  `ALTER TABLE plants ADD COLUMN IF NOT EXISTS name_key BYTEA`,
  `ALTER TABLE plants ADD COLUMN IF NOT EXISTS added BIGINT DEFAULT (extract(epoch FROM now()) * 1000000)::bigint`,
  `CREATE INDEX IF NOT EXISTS plants_by_name ON plants (name_key, id)`,
  `CREATE INDEX IF NOT EXISTS plants_by_newest ON plants (added, id)`,
  `CREATE STATISTICS IF NOT EXISTS plants_of_tag ON (left(md5(tag), 15)) FROM plants`,
] as const;

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

/** A version to come that counts its new step as one that every replica must know. */
const NEXT_FOR_ALL: readonly PlantedBug[] = [
  ...NEXT,
  { file: "src/store/postgres/engine/schema.ts", from: "const VERSION = 8;", to: "const VERSION = 9;" },
];

const BLOCK_WRITES: readonly PlantedBug[] = [
  { file: "src/store/postgres/engine/index-build.ts", from: 'text.replace(" INDEX ", " INDEX CONCURRENTLY ")', to: "text" },
];

/** An index that is there counts as one that is whole. */
const TRUST_WHAT_IS_THERE: readonly PlantedBug[] = [
  {
    file: "src/store/postgres/engine/index-build.ts",
    from: "coalesce((SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('store.${name}')), false)",
    to: "to_regclass('store.${name}') IS NOT NULL",
  },
];

const cluster = await startCluster({ settings: { maintenance_work_mem: "1MB" } });
const running: Array<() => Promise<unknown>> = [];
// All services of this file together would take more connections than the server has.
afterEach(() => Promise.all(running.splice(0).map((end) => end())));

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

let large: Promise<Database> | undefined;

/** The same with one step and MANY plants: a copy of the first of them, as to fill one takes seconds. */
async function makeLarge(): Promise<Database> {
  const { name: template } = await (large ??= makeDatabase(1, MANY));
  const name = `large_${crypto.randomUUID()}`;
  await cluster.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`);
  return toDatabase(cluster.url(name));
}

function serve({ url }: Database, bugs: readonly PlantedBug[] = [], data = temporaryFolder()) {
  const service = spawnProcess({
    data,
    // A busy machine fails no test.
    flags: ["--database", url, "--queue-wait-ms", "10000"],
    ...(bugs.length > 0 ? { root: plantBugs(bugs) } : {}),
  });
  running.push(() => service.end("SIGKILL"));
  return { ...service, data };
}

/** The indexes of the store, and the version that it states. */
async function describeSchema({ query }: Database) {
  const indexes = await query(
    "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indisvalid AND indrelid IN ('plants'::regclass, 'tokens'::regclass) ORDER BY 1",
  );
  const [row] = await query("SELECT version FROM plant_store_schema WHERE id = 1");
  return { version: Number(row!["version"]), indexes: indexes.map(({ name }) => name) };
}

const INDEXES = [
  "plants_by_name",
  "plants_by_newest",
  "plants_by_tag",
  "plants_by_word",
  "plants_pkey",
  "plants_without_tag",
  "tokens_by_hash",
  "tokens_by_parent",
  "tokens_pkey",
];
const NEWEST = { version: VERSION, indexes: INDEXES };

async function isBuilding({ query }: Database): Promise<boolean> {
  return (await query("SELECT FROM pg_stat_progress_create_index WHERE datname = current_database()")).length > 0;
}

const WRITE_PAUSE_MS = 5;

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

/** With a lock, a write waits for the whole build of the index of words, the longest of five. */
const SHARE_MAX = 0.2;

/** The longest wait of a write while indexes are built, as a share of the whole migration. */
async function waitOfWrites(bugs: readonly PlantedBug[]): Promise<number> {
  const database = await makeLarge();
  const writer = await startWriter(database);
  const clock = startPatientClock();
  const { started } = serve(database, bugs);
  await started;
  const tookMs = clock.ms();
  const waitMs = await writer.stop();
  expect(await describeSchema(database)).toEqual(NEWEST);
  return waitMs / tookMs;
}

/** No index is whole while there is an older snapshot: a build lasts until this client has ended. */
async function startReader({ url }: Database): Promise<Client> {
  const reader = new Client({ connectionString: url });
  await reader.connect();
  await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await reader.query("SELECT 1");
  return reader;
}

describe("an upgrade", () => {
  for (const steps of FROM) {
    it(`from ${steps} steps of the schema finds every plant, and those that were written meanwhile`, async () => {
      const database = await makeDatabase(steps, FEW);
      const writer = steps > 0 ? await startWriter(database) : undefined;
      const { started, data } = serve(database);
      const { address } = await started;
      await writer?.stop();
      expect(await describeSchema(database)).toEqual(NEWEST);
      const statistics = await database.query("SELECT stxname FROM pg_statistic_ext WHERE stxrelid = 'plants'::regclass");
      expect(statistics).toEqual([{ stxname: "plants_of_tag" }]);
      if (steps === 0) return;
      const headers = { authorization: `Bearer ${await readToken(data)}` };
      for (const q of [`${FEW}`, "written"]) {
        const found = await fetch(`${address}/plants?q=${q}&limit=1`, { headers });
        expect((await found.json()) as unknown[]).toHaveLength(1);
      }
      const [count] = await database.query("SELECT count(*) FROM plants");
      const sorted = createClient({ url: address!, token: await readToken(data) });
      // Keys of the names come a moment later: a list by name looks for what was written without one.
      await until("Every plant has a place", async () => {
        await fetch(`${address}/plants?sort=-name&limit=1`, { headers });
        return (await database.query("SELECT FROM plants WHERE name_key IS NULL")).length === 0;
      });
      for (const sort of ["name", "-name", "newest", "oldest"] as const) {
        const ids = new Set<bigint>();
        let plants = 0;
        for await (const { id } of sorted.list({ sort, limit: 1000 })) {
          ids.add(id);
          plants += 1;
        }
        expect([ids.size, plants]).toEqual([Number(count!["count"]), Number(count!["count"])]);
      }
    });
  }

  it("waits with a column until an export has ended, and meanwhile keeps no write waiting for long", async () => {
    const database = await makeDatabase(9, FEW);
    const reader = new Client({ connectionString: database.url });
    await reader.connect();
    await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
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
    expect(await waitOfWrites([])).toBeLessThan(SHARE_MAX);
  });

  it("would visibly keep writes waiting if it locked the table", async () => {
    // On a busy machine most of the time may go by before an index is built.
    await until("A write waits long", async () => (await waitOfWrites(BLOCK_WRITES)) > SHARE_MAX);
  });

  /** Kills a migration while it builds an index. The next two then start at once. */
  async function startAfterCut(bugs: readonly PlantedBug[]) {
    const database = await makeDatabase(1, FEW);
    const reader = await startReader(database);
    const cut = serve(database, bugs);
    cut.started.catch(() => {});
    await until("It builds", async () => (await database.query("SELECT FROM pg_index WHERE NOT indisvalid")).length > 0);
    await cut.end("SIGKILL");
    // The server works on for a client that is gone, until it writes to it.
    await database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index WHERE datname = current_database()");
    await until("It is cut", async () => !(await isBuilding(database)));
    await reader.end();
    const others = [serve(database, bugs), serve(database, bugs)];
    await Promise.all(others.map(({ started }) => started));
    const isTold = others.some(({ lines }) => lines.some((line) => line.includes("removing what a cut left")));
    return { ...(await describeSchema(database)), isTold };
  }

  it("that is killed while it builds an index is completed by whoever comes next", async () => {
    expect(await startAfterCut([])).toEqual({ ...NEWEST, isTold: true });
  });

  it("goes on building an index when a look at its progress fails", async () => {
    const database = await makeDatabase(1, FEW);
    const reader = await startReader(database);
    let looks = 0;
    await buildIndex(STEPS[2]!, {
      async run<Row extends unknown[]>({ text }: Statement, values: readonly unknown[] = []) {
        const client = new Client({ connectionString: database.url, types: { getTypeParser: () => String } });
        await client.connect();
        const { rows } = await client.query<Row>({ text: inPublic(text), values: [...values], rowMode: "array" });
        await client.end();
        const isLook = text === INDEX.state("plants_by_word").text && (await isBuilding(database));
        if (!isLook) return rows;
        looks += 1;
        await reader.end();
        throw new Error("sorry, too many clients already");
      },
      isNew: true,
      name: "test",
      runLong: async ({ text }) => void (await database.query(inPublic(text))),
      log: createLog({ level: "error", isTerminal: false, write: () => {}, now: Date.now }),
    });
    expect(looks).toBeGreaterThan(0);
    expect(await database.query("SELECT FROM pg_index WHERE indexrelid = 'plants_by_word'::regclass AND indisvalid")).toHaveLength(1);
  });

  it("that is killed would visibly leave a broken index if one that is there counted as whole", async () => {
    expect(await startAfterCut(TRUST_WHAT_IS_THERE)).not.toMatchObject(NEWEST);
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
      // Whoever meets it at its old place has it moved.
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

  it("would visibly stay down if the next version counted its index as a step that all must know", async () => {
    const database = await makeDatabase(RELEASED.length, FEW);
    await serve(database, NEXT_FOR_ALL).started;
    expect(String(await rejectionOf(serve(database).started))).toContain("made by a newer Plant Store");
  });
});

describe("plants with words of the version before", () => {
  const NAMES = ["Œillet d’Inde", "Łopian większy", "Rødgran", "Monstera deliciosa"];

  async function makeOld(): Promise<Database> {
    const database = await makeDatabase(RELEASED.length, 0);
    const words = ["'œillet' 'd' 'inde'", "'łopian' 'wiekszy'", "'rødgran'", "'monstera' 'deliciosa'"];
    for (const [at, name] of NAMES.entries())
      await database.query(`INSERT INTO plants (id, name, words) VALUES (${at}, '${name}', $$${words[at]}$$::tsvector)`);
    return database;
  }

  const isNoted = async ({ query }: Database) => (await query("SELECT FROM plant_store_schema WHERE id = 2")).length > 0;
  const wordsOf = async ({ query }: Database) =>
    (await query("SELECT words::text AS words FROM plants ORDER BY id")).map((row) => row["words"]);
  const RENEWED = ["'d' 'inde' 'oeillet'", "'lopian' 'wiekszy'", "'rodgran'", "'deliciosa' 'monstera'"];

  it("get those of today in the background, once, and are found as people type them", async () => {
    const database = await makeOld();
    const check = () => runCheck([], { environment: { PLANT_STORE_DATABASE: database.url } });
    expect(await check()).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expect.stringMatching(/^note +search +plants with words of an older version: 3\./m),
    });
    const { started, data, end } = serve(database);
    const client = createClient({ url: (await started)["address"]!, token: await readToken(data) });
    await until("All are renewed", () => isNoted(database));
    expect(await wordsOf(database)).toEqual(RENEWED);
    for (const [at, q] of ["oeillet inde", "lopian", "rødgran", "monstera"].entries())
      expect(await Array.fromAsync(client.list({ q }))).toMatchObject([{ name: NAMES[at] }]);
    await end("SIGTERM");

    await database.query("UPDATE plants SET words = $$'ours'$$ WHERE id = 2");
    expect(await check()).toMatchObject({ status: 1, stdout: expect.stringMatching(/^wrong +search .*: 2$/m) });
    const next = serve(database, [], data);
    await next.started;
    await next.end("SIGTERM");
    expect((await wordsOf(database))[2]).toBe("'ours'");
    expect(next.lines.join("\n")).not.toContain("words_renewing");
  });

  it("get them after a failure too", async () => {
    const database = await makeOld();
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

it("has never changed a step that was released", () => {
  expect(STEPS.slice(0, RELEASED.length).map(({ text }) => text.replaceAll(/\b(store|pg_catalog)\./g, ""))).toEqual([...RELEASED]);
});
