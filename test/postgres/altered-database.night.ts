import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "bun:test";
import { runCommand } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { copyEmbedded } from "../support/postgres/binaries.ts";
import { sharedCluster, startCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { openExecute, openStore } from "../support/postgres/store.ts";
import { rejectionOf } from "../support/rejection.ts";
import { until } from "../support/until.ts";
import type { DatabaseServer } from "../support/postgres/database-server.ts";

/** What people may set for a user or a database. */
const SETTINGS = [
  "array_nulls = off",
  "client_min_messages = error",
  "standard_conforming_strings = off",
  "default_transaction_isolation = serializable",
  "lock_timeout = '1min'",
  "statement_timeout = '10s'",
  "bytea_output = escape",
  "search_path = public, pg_temp",
];

const PLANT = { id: 1, name: `O'Hara \\ "{NULL}" \0 🌿`, tag: 'a "b" \\, {c}' };

describe("a service on a database with other settings", () => {
  let server: DatabaseServer;
  let service: TestService | undefined;
  /** Of the service. */
  let database: string;
  const data = temporaryFolder();
  beforeAll(async () => {
    server = await sharedCluster();
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
  });

  async function startWith(settings: readonly string[]): Promise<TestService> {
    database = await server.createDatabase();
    const name = new URL(database).pathname.slice(1);
    for (const setting of settings) await queryOnce(database, `ALTER DATABASE "${name}" SET ${setting}`);
    rmSync(join(data, "first-token"), { force: true });
    return (service = await startTestService({ database, data, queueWaitMs: "15000" }));
  }

  for (const setting of SETTINGS) {
    it(`stores and finds every plant unchanged with ${setting}`, async () => {
      const { post, request } = await startWith([setting]);
      expect((await post(JSON.stringify(PLANT))).status).toBe(200);
      expect((await post('{"id":2,"name":"no tag"}')).status).toBe(200);
      expect(await (await request("/plants")).json()).toEqual([PLANT, { id: 2, name: "no tag" }]);
      expect(await (await request(`/plants?${new URLSearchParams({ q: "hara", tag: PLANT.tag }).toString()}`)).json()).toEqual([PLANT]);
      expect(await (await request("/tags")).json()).toEqual([{ tag: PLANT.tag, plants: 1 }]);
      const { execute, close } = openExecute(database);
      expect(await execute({ text: "SHOW transaction_isolation" }, [], { isRepeatable: true })).toEqual([["read committed"]]);
      await close();
    });
  }

  it("keeps its connections, though the server ends those that are idle", async () => {
    const { post } = await startWith(["idle_session_timeout = '100ms'"]);
    expect((await post(JSON.stringify(PLANT))).status).toBe(200);
    const name = new URL(database).pathname.slice(1);
    const find = async () => (await server.query(`SELECT pid FROM pg_stat_activity WHERE datname = '${name}'`)).map(({ pid }) => pid);
    // That of a start, or of a sweep of the log, goes by itself.
    await until("all stay", async () => {
      const before = await find();
      await Bun.sleep(500);
      const after = new Set(await find());
      return before.length > 1 && before.every((pid) => after.has(pid));
    });
  });

  it("is found whole by a check, though the server quotes every name", async () => {
    await startWith(["quote_all_identifiers = on"]);
    const environment = { PLANT_STORE_DATABASE: database };
    const { status, stdout } = await runCommand(["check", "--data", temporaryFolder()], { environment });
    expect([status, stdout]).toEqual([0, expect.not.stringMatching(/wrong|missing/)]);
  });

  it("counts every plant that has a word, though the server leaves out most of what an index finds", async () => {
    const { request } = await startWith(["gin_fuzzy_search_limit = 1", "enable_seqscan = off"]);
    const plants = Array.from({ length: 3000 }, (_, id) => JSON.stringify({ id, name: id % 2 === 0 ? "aloe" : "ficus" }));
    const init = { method: "POST", headers: { "content-type": "application/x-ndjson" }, body: plants.join("\n") };
    expect((await request("/plants/import", init)).status).toBe(200);
    // It leaves out nothing of what is new in the index.
    await queryOnce(database, "VACUUM plants");
    expect(await (await request("/plants/count?q=aloe")).json()).toEqual({ plants: 1500, precision: "exact" });
  });

  it("reads an export to its end, though the server ends each transaction after a while", async () => {
    const newest = await startCluster({ binaries: copyEmbedded()!, settings: { transaction_timeout: "300ms" } });
    const { plants, close } = await openStore(newest.url());
    const snapshot = await plants.snapshot();
    await Bun.sleep(600);
    expect((await snapshot.list({ limit: 1, bytesMax: 1, after: undefined, tag: undefined, words: [] })).plants).toEqual([]);
    snapshot.close();
    await close();
  });

  it("answers at once after someone has given a column another type, though its statements were prepared before", async () => {
    const { post, request } = await startWith([]);
    const change = (name: string) =>
      request("/plants/1", {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name, tag: PLANT.tag }),
      });
    const statuses = async () => {
      const answers = [await post(JSON.stringify(PLANT)), await request("/plants/1"), await request("/plants"), await change(PLANT.name)];
      return answers.map(({ status }) => status);
    };
    for (let times = 0; times < 3; times += 1) expect(await statuses()).toEqual([200, 200, 200, 200]);
    await queryOnce(database, 'ALTER TABLE plants ALTER name TYPE text COLLATE "C"');
    for (let times = 0; times < 3; times += 1) expect(await statuses()).toEqual([200, 200, 200, 200]);
    expect(await (await request("/plants/1")).json()).toEqual(PLANT);
  });

  it("answers for other plants while one is locked by another program, and for that one once it is free", async () => {
    const { post } = await startWith([]);
    await post('{"id":1,"name":"locked"}');
    const locked = queryOnce(database, "SELECT pg_sleep(2) FROM (SELECT id FROM plants WHERE id = 1 FOR UPDATE) AS locked");
    await Bun.sleep(200);
    const statuses = new Set<number>();
    const repeated = post('{"id":1,"name":"locked"}');
    // Others in the same batch wait with it.
    await Bun.sleep(50);
    for (let id = 2; id < 40; id += 1) {
      const response = await post(`{"id":${id},"name":"free"}`);
      statuses.add(response.status);
      await Bun.sleep(20);
    }
    expect(statuses).toEqual(new Set([200]));
    expect([200, 503]).toContain((await repeated).status);
    await locked;
    expect((await post('{"id":1,"name":"locked"}')).status).toBe(200);
  });

  it("is refused if its encoding cannot hold every name", async () => {
    const name = `latin_${crypto.randomUUID().slice(0, 8)}`;
    await queryOnce(server.url(), `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    try {
      expect(String(await rejectionOf(openStore(server.url(name))))).toMatch(/stores text in LATIN1.*ENCODING 'UTF8'/);
    } finally {
      await queryOnce(server.url(), `DROP DATABASE ${name} WITH (FORCE)`);
    }
  });
});

/** What someone may add to the table: a rule for names, one that fails, and one that drops plants without a word. */
const RULES = `
  ALTER TABLE plants ADD CONSTRAINT no_weeds CHECK (name <> 'weed');
  CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'DELETE' AND OLD.name = 'protected' THEN RAISE EXCEPTION 'protected'; END IF;
    IF TG_OP = 'INSERT' AND NEW.name = 'thorn' THEN RAISE EXCEPTION 'thorn' USING ERRCODE = '45000'; END IF;
    IF TG_OP = 'INSERT' AND NEW.name = 'busy' THEN RAISE EXCEPTION 'busy' USING ERRCODE = '40001'; END IF;
    IF TG_OP = 'INSERT' AND NEW.name = 'ghost' THEN RETURN NULL; END IF;
    RETURN coalesce(NEW, OLD);
  END $$;
  CREATE TRIGGER keep_out BEFORE INSERT OR DELETE ON plants FOR EACH ROW EXECUTE FUNCTION keep_out()`;

const JSON_TYPE = { "content-type": "application/json" };
/** Enough for commits with several changes. */
const OTHERS = Array.from({ length: 40 }, (_, at) => at + 1);

describe("a plant that the database refuses", () => {
  let service: TestService;
  let lastId = 0;
  beforeAll(async () => {
    const database = await (await sharedCluster()).createDatabase();
    service = await startTestService({ database });
    await queryOnce(database, RULES);
  });
  afterAll(() => service.stop());

  const put = (id: number, name: string) =>
    service.request(`/plants/${id}`, { method: "PUT", headers: JSON_TYPE, body: JSON.stringify({ name }) });
  const create = (id: number, name: string) => service.post(JSON.stringify({ id, name }));
  const remove = (id: number) => service.request(`/plants/${id}`, { method: "DELETE" });

  for (const [what, before, send, names, statuses] of [
    ["created, and is not there", undefined, create, ["rose", "weed"], [200, 500]],
    ["created with a code that PostgreSQL does not have either, and is not there", undefined, create, ["lily", "thorn"], [200, 500]],
    ["created if a trigger drops it without a word, and is not answered as created", undefined, create, ["iris", "ghost"], [200, 503]],
    ["changed, and stays as it was", "tulip", put, ["lily", "weed"], [200, 500]],
    ["deleted, and is still there", "protected", remove, ["", ""], [204, 500]],
  ] as const)
    it(`keeps no other plant of its commit from being ${what}`, async () => {
      const first = (lastId += 100);
      const others = OTHERS.map((at) => first + at);
      if (before !== undefined) for (const [at, id] of [first, ...others].entries()) await put(id, at === 0 ? before : "other");
      const answers = await Promise.all([...others.map((id) => send(id, names[0])), send(first, names[1])]);
      expect([new Set(answers.slice(0, -1).map(({ status }) => status)), answers.at(-1)!.status]).toEqual([
        new Set([statuses[0]]),
        statuses[1],
      ]);
      const read = await service.request(`/plants/${first}`);
      expect(read.ok ? await read.json() : undefined).toEqual(before && { id: first, name: before });
    });

  it("does not make the service look ill", async () => {
    await service.post('{"id":1000,"name":"weed"}');
    expect((await service.request("/readyz")).status).toBe(200);
    expect(service.logged.filter((line) => line.includes("store_trouble"))).toEqual([]);
  });

  it("gets 503, which invites another try, if the code of the refusal asks for one", async () => {
    expect((await service.post('{"id":1005,"name":"busy"}')).status).toBe(503);
    expect((await service.request("/plants/1005")).status).toBe(404);
  });
});
