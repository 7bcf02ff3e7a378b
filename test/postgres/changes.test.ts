import { afterEach, describe, expect, it } from "bun:test";
import { Client } from "pg";
import { asPlantId } from "../../src/domain/plant.ts";
import { ChangeLog } from "../../src/store/postgres/change-log.ts";
import { DELETE_OLD, INSERT_LOGGED_OF_ONE as INSERT_LOGGED, LIST_OLD, MAKE_MARK } from "../../src/store/postgres/change-statements.ts";
import { lastOld } from "../../src/store/postgres/change-sweep.ts";
import type { AgedRow } from "../../src/store/postgres/change-sweep.ts";
import type { Execute } from "../../src/store/postgres/engine/retry.ts";
import { forgetPostgresChanges } from "../../src/store/postgres/forget.ts";
import { createHistory } from "../../src/store/postgres/history.ts";
import { restorePostgresStore } from "../../src/store/postgres/restore.ts";
import type { LogCursor } from "../../src/store/history.ts";
import { placeText } from "../../src/store/log-cursor.ts";
import type { Store } from "../../src/store/store.ts";
import { readOn } from "../support/history-pages.ts";
import { plantOf } from "../support/plant.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { inPublic, queryOnce } from "../support/postgres/database-server.ts";
import { openExecute, openLog, openStore } from "../support/postgres/store.ts";
import { inForm, tell } from "../support/run-form.ts";
import { rejectionOf } from "../support/rejection.ts";
import { until } from "../support/until.ts";

const cluster = await sharedCluster();
const clients: Client[] = [];
const stores: Store[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()));
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  clients.push(client);
  await client.connect();
  return client;
}

async function open(url: string, options: Parameters<typeof openStore>[1] = {}): Promise<Store> {
  const store = await openStore(url, options);
  stores.push(store);
  return store;
}

async function close(store: Store): Promise<void> {
  stores.splice(stores.indexOf(store), 1);
  await store.close();
}

/** The ids of all changes that can be read behind a place, in order, and the place behind them. */
async function readAll(store: Store, after: LogCursor | undefined) {
  const { changes, cursor } = await readOn(store, { after });
  return { ids: changes.map(({ id }) => Number(id)), cursor };
}

/** Its old rows are deleted after a mark is taken, before anything is read below it. */
class SweptLog extends ChangeLog {
  sweepNext: (() => Promise<void>) | undefined;

  override async markAboveAll(): Promise<bigint> {
    const mark = await super.markAboveAll();
    const sweep = this.sweepNext;
    this.sweepNext = undefined;
    await sweep?.();
    return mark;
  }
}

async function sweepOld(execute: Execute): Promise<void> {
  await execute(MAKE_MARK, [], { isRepeatable: false });
  const rows = await execute<AgedRow>(LIST_OLD, [0n, 0n, 30, 10], { isRepeatable: true });
  await execute(DELETE_OLD, lastOld(rows)!.slice(0, 2), { isRepeatable: true });
}

const WRITERS = 4;
const SECONDS = inForm(3, 60);

/** How long a commit is stretched at most, in milliseconds. */
const STRETCH_MS = 60;

/** Creates plants as a replica does, but for the time between its statement and its commit. */
async function startWriter(url: string, firstId: number) {
  const client = await connect(url);
  let isRunning = true;
  const ids: number[] = [];
  const done = (async () => {
    for (let id = firstId; isRunning; id += 1) {
      await client.query("BEGIN");
      await client.query(inPublic(INSERT_LOGGED.text), [[id], [`stretched ${id}`], [null], ["stretched"], ["38"], ["writer"], null]);
      await client.query("SELECT pg_sleep($1)", [(Math.random() * STRETCH_MS) / 1000]);
      await client.query("COMMIT");
      ids.push(id);
    }
  })();
  return async () => {
    isRunning = false;
    await done;
    return ids;
  };
}

describe("a program that follows the changes", () => {
  it(`misses none of ${WRITERS} writers whose commits take long, beside transactions that write elsewhere or only read, and is little behind`, async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    const other = await connect(await cluster.createDatabase());
    const beside = await connect(url);
    const dump = await connect(url);
    await other.query("CREATE TABLE other (id BIGINT); BEGIN; INSERT INTO other VALUES (1)");
    await beside.query("CREATE TABLE beside (id BIGINT); BEGIN; INSERT INTO beside VALUES (1)");
    // As pg_dump does.
    await dump.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; LOCK TABLE plants, plant_changes IN ACCESS SHARE MODE");
    let cursor = await store.history.newest();
    const writers = await Promise.all(Array.from({ length: WRITERS }, (_, at) => startWriter(url, (at + 1) * 1_000_000)));
    const read: number[] = [];
    let longestMs = 0;
    const end = performance.now() + SECONDS * 1000;
    while (performance.now() < end) {
      const began = performance.now();
      const page = await readAll(store, cursor);
      if (page.ids.length > 0) longestMs = Math.max(longestMs, performance.now() - began);
      cursor = page.cursor;
      read.push(...page.ids);
    }
    const during = read.length;
    const written = (await Promise.all(writers.map((stop) => stop()))).flat();
    read.push(...(await readAll(store, cursor)).ids);
    tell("stretched commits", `${written.length} changes, ${during} of them read meanwhile`);
    expect(new Set(read).size).toBe(read.length);
    expect(read.toSorted((left, right) => left - right)).toEqual(written.toSorted((left, right) => left - right));
    expect(written.length).toBeGreaterThan(10 * SECONDS);
    // All but what was under way at the end: the mark has not stood still.
    expect(during).toBeGreaterThan(written.length - 5 * WRITERS);
  });

  it("waits for a transaction that may still get a number of before", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    await store.plants.create(plantOf(1));
    const cursor = await store.history.newest();
    const silent = await connect(url);
    await silent.query("BEGIN; LOCK TABLE plant_changes IN ROW EXCLUSIVE MODE");
    await store.plants.create(plantOf(2));
    expect(await readAll(store, cursor)).toEqual({ ids: [], cursor: expect.stringContaining(placeText(cursor)) });
    await silent.query("ROLLBACK");
    expect((await readAll(store, cursor)).ids).toEqual([2]);
  });

  it("goes on from a place that another replica has read up to, even if this one knows less", async () => {
    const url = await cluster.createDatabase();
    const [first, second] = [await open(url), await open(url)];
    await readAll(second, undefined);
    await first.plants.create(plantOf(1));
    const cursor = await first.history.newest();
    const silent = await connect(url);
    await silent.query("BEGIN; LOCK TABLE plant_changes IN ROW EXCLUSIVE MODE");
    expect(await readAll(second, cursor)).toEqual({ ids: [], cursor: expect.stringContaining(placeText(cursor)) });
  });

  it("begins behind all that was answered, though a transaction of before is under way", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    const writer = await connect(url);
    await writer.query("BEGIN");
    await writer.query(inPublic(INSERT_LOGGED.text), [[1], ["slow"], [null], ["slow"], ["38"], ["writer"], null]);
    await store.plants.create(plantOf(2));
    const newest = store.history.newest();
    await Bun.sleep(50);
    await writer.query("COMMIT");
    expect((await readAll(store, await newest)).ids).toEqual([]);
    expect((await readAll(store, undefined)).ids.length).toBe(2);
  });

  it("is told of changes again after the database was away for a moment", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    let calls = 0;
    const end = store.history.watch(() => (calls += 1));
    await until("It was called", () => calls > 0);
    const name = new URL(url).pathname.slice(1);
    await cluster.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await store.plants.create(plantOf(1));
    calls = 0;
    await store.plants.create(plantOf(2));
    await until("It was called again", () => calls > 0);
    end();
  });
});

const DAY_US = 86_400_000_000;
const gone = { code: "changes_gone" };

describe("the log of changes", () => {
  it("is deleted by age, and its newest row stays as a place to go on from", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    await store.plants.create(plantOf(1));
    const before = await store.history.newest();
    await store.plants.create(plantOf(2));
    await close(store);
    await queryOnce(url, `UPDATE plant_changes SET at = at - ${31 * DAY_US}`);
    const later = await open(url);
    // A mark of the start, as the newest row was old.
    await until("The old ones are gone", async () => (await readAll(later, undefined)).ids.length === 0);
    await until("One is left", async () => (await queryOnce(url, "SELECT FROM plant_changes")).length === 1);
    expect(await rejectionOf(readAll(later, before))).toMatchObject(gone);
    const newest = await later.history.newest();
    await later.plants.create(plantOf(3));
    expect((await readAll(later, newest)).ids).toEqual([3]);
  });

  it("can be read while its last rows below the mark are deleted by age", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    const { execute, close: end } = openExecute(url);
    const log = new SweptLog({ execute, probe: execute, log: openLog() });
    await log.follow();
    const history = createHistory({ log, changesDays: 30, execute });
    const places = [() => history.newest(), async () => (await history.read({ after: undefined, limit: 10, tag: undefined })).cursor];
    for (const [at, placeOf] of places.entries()) {
      await store.plants.create(plantOf(2 * at));
      await queryOnce(url, `UPDATE plant_changes SET at = at - ${31 * DAY_US}`);
      log.sweepNext = () => sweepOld(execute);
      const after = await placeOf();
      expect(log.sweepNext).toBeUndefined();
      await store.plants.create(plantOf(2 * at + 1));
      expect((await readAll(store, after)).ids).toEqual([2 * at + 1]);
    }
    await end();
  });

  it("has no place in a row that is gone, though its transaction has a later row", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    const start = await store.history.newest();
    const client = await connect(url);
    await client.query("BEGIN");
    for (const id of [1, 2])
      await client.query(inPublic(INSERT_LOGGED.text), [[id], [`Plant ${id}`], [null], ["both"], ["38"], ["writer"], null]);
    await client.query("COMMIT");
    const { changes } = await readOn(store, { after: start });
    expect(changes.map(({ id }) => Number(id))).toEqual([1, 2]);
    const [first, second] = changes;
    await client.query("DELETE FROM plant_changes WHERE at = $1", [first!.at]);
    expect(await rejectionOf(readOn(store, { after: first!.cursor }))).toMatchObject({ code: "changes_gone" });
    expect((await readOn(store, { after: second!.cursor })).changes).toEqual([]);
  });

  it("gets a mark once its newest row is more than an hour old or ahead, so that who follows a quiet store has a place that lasts", async () => {
    const url = await cluster.createDatabase();
    const countMarks = async () => (await queryOnce(url, "SELECT FROM plant_changes WHERE kind = 'mark'")).length;
    for (const hours of [-2, 2]) {
      const store = await open(url);
      await store.plants.create(plantOf(hours));
      expect((await readAll(store, await store.history.newest())).ids).toEqual([]);
      await close(store);
      const marks = await countMarks();
      await queryOnce(url, `UPDATE plant_changes SET at = at + ${(hours * DAY_US) / 24}`);
      const later = await open(url);
      await until("There is one more", async () => (await countMarks()) === marks + 1);
      expect((await readAll(later, undefined)).ids.at(-1)).toBe(hours);
      await close(later);
    }
  });

  it("begins a new history in a copy whose server has not come to the numbers of its rows, and logs that", async () => {
    const url = await cluster.createDatabase();
    const log = openLog();
    const store = await open(url, { log });
    await store.plants.create(plantOf(1));
    const before = await store.history.newest();
    await queryOnce(
      url,
      "INSERT INTO plant_changes SELECT '99999999999', at, kind, changed, ids, names, tags, writers, import FROM plant_changes WHERE kind = 'created'",
    );
    expect(await rejectionOf(readAll(store, before))).toMatchObject(gone);
    expect(log.lines.join("")).toContain("changes_begin_anew");
    const newest = await store.history.newest();
    await store.plants.create(plantOf(2));
    expect((await readAll(store, newest)).ids).toEqual([2]);
  });

  it("begins a new history with a restore", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url);
    const before = await store.history.newest();
    await close(store);
    async function* contents() {
      yield { tokens: [], plants: [plantOf(1)] };
    }
    await restorePostgresStore({ url, log: openLog() }, contents());
    expect(await rejectionOf(readAll(await open(url), before))).toMatchObject(gone);
  });

  it("keeps nothing, and says so, where it is to be kept for 0 days", async () => {
    const url = await cluster.createDatabase();
    const store = await open(url, { changesDays: 0 });
    await store.plants.create(plantOf(1));
    const asked = [store.history.newest(), readAll(store, undefined), store.history.imports(1)];
    for (const reason of await Promise.all(asked.map(rejectionOf))) expect(reason).toMatchObject({ code: "changes_off" });
  });

  it("shows nothing of a plant that is forgotten, and all of those that were changed with it", async () => {
    const url = await cluster.createDatabase();
    const { plants, history } = await open(url);
    const [before, after] = ["before", "after"].map((name) => [1, 2, 3].map((id) => ({ ...plantOf(id, `${name} ${id}`), tag: "t" })));
    for (const some of [before!, after!]) await plants.import(some, { isReplacing: true, isDryRun: false, import: "file" });
    await plants.compareAndSwap({ from: after![1]!, to: undefined });
    expect(await forgetPostgresChanges({ url, log: openLog() }, asPlantId(2n))).toBe(2);
    expect(await forgetPostgresChanges({ url, log: openLog() }, asPlantId(2n))).toBe(0);
    expect(JSON.stringify(await queryOnce(url, "SELECT names, tags FROM plant_changes"))).not.toMatch(/(before|after) 2/);
    const { changes } = await history.ofImport("file", { before: undefined, limit: 3 });
    expect(changes.map(({ from, to, isForgotten }) => [from?.name, to?.name, isForgotten]).toSorted(byText)).toEqual([
      ["before 1", "after 1", false],
      ["before 3", "after 3", false],
      [undefined, undefined, true],
    ]);
    const { changes: ofOne } = await history.ofPlant(asPlantId(2n), { before: undefined, limit: 9 });
    expect(ofOne.map(({ kind, isForgotten }) => [kind, isForgotten])).toEqual([
      ["deleted", true],
      ["replaced", true],
      ["created", true],
    ]);
    const read = await history.read({ after: undefined, limit: 9, tag: "another" });
    expect(read.changes.map(({ id, kind }) => `${id} ${kind}`)).toEqual(["2 replaced", "2 deleted"]);
  });

  it("is needed: a service whose user may not write it is not ready, and says why", async () => {
    const url = await cluster.createDatabase();
    await close(await open(url));
    const role = `role_${crypto.randomUUID().slice(0, 8)}`;
    await queryOnce(url, `CREATE ROLE ${role} LOGIN; GRANT ALL ON plants, tokens, plant_store_schema, plant_changes TO ${role}`);
    const log = openLog();
    const store = await open(Object.assign(new URL(url), { username: role }).href, { log });
    // The work of a start has been done.
    await store.history.newest();
    await Bun.sleep(100);
    await queryOnce(url, `REVOKE INSERT ON plant_changes FROM ${role}`);
    await until("It is not ready", () => throws(() => store.check()));
    expect(log.lines.join("")).toMatch(/grant SELECT, INSERT, UPDATE and DELETE on the tables plants, plant_changes/);
    await queryOnce(url, `GRANT INSERT ON plant_changes TO ${role}`);
    await until("It is ready", () => !throws(() => store.check()));
    await close(store);
    await queryOnce(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });

  it("tells each writer of a commit apart", async () => {
    const url = await cluster.createDatabase();
    const { plants, history } = await open(url);
    await Promise.all(["anna", "bert", 'c"\\,'].map((owner, at) => plants.create(plantOf(at), { owner })));
    await plants.compareAndSwap({ from: plantOf(1), to: plantOf(1, "other") }, "anna");
    const writers = await Promise.all(
      [0, 1, 2].map(async (id) =>
        (await history.ofPlant(asPlantId(BigInt(id)), { before: undefined, limit: 9 })).changes.map(({ by }) => by),
      ),
    );
    expect(writers).toEqual([["anna"], ["anna", "bert"], ['c"\\,']]);
  });
});

function byText(left: readonly unknown[], right: readonly unknown[]): number {
  return String(left[0]) < String(right[0]) ? -1 : 1;
}

function throws(act: () => unknown): boolean {
  try {
    act();
    return false;
  } catch {
    return true;
  }
}
