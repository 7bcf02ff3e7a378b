import { afterAll, describe, expect, it } from "bun:test";
import { nameKey } from "../../src/domain/name-order.ts";
import type { Execute } from "../../src/store/postgres/engine/retry.ts";
import { NameKeys } from "../../src/store/postgres/name-keys.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { openExecute, openLog, openStore } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";

const MANY = 3000;
const LONG_AGO_MS = 60_000;

const url = await (await sharedCluster()).createDatabase();
const log = openLog();
await (await openStore(url, { isServing: false })).close();
const pool = openExecute(url, 2);
let asked = 0;
let time = 0;

const execute: Execute = (...call) => {
  asked += 1;
  return pool.execute(...call);
};

/** As a replica of a version before does it. */
async function insertWithoutKeys(from: number, to: number): Promise<void> {
  await queryOnce(url, `INSERT INTO plants (id, name, words) SELECT id, 'Aloe ' || id, 'aloe' FROM generate_series(${from}, ${to}) AS id`);
}

async function countWithout(): Promise<number> {
  return (await queryOnce(url, "SELECT FROM plants WHERE name_key IS NULL")).length;
}

await insertWithoutKeys(1, MANY);
const keys = new NameKeys({ execute: { lists: execute, imports: execute }, log, now: () => time });

describe("the keys of names on PostgreSQL", () => {
  afterAll(async () => {
    await keys.close();
    await pool.close();
  });

  it("are given to all plants, and then nothing is asked until somebody lists by name", async () => {
    await until("All have keys", async () => (await keys.check().catch(() => "building")) === undefined);
    expect(await countWithout()).toBe(0);
    const [first] = await queryOnce(url, "SELECT encode(name_key, 'hex') AS key FROM plants WHERE id = 1");
    expect(first).toEqual({ key: nameKey("Aloe 1") });
    const before = asked;
    time += LONG_AGO_MS;
    await Bun.sleep(200);
    expect(asked).toBe(before);
  });

  it("are there for the list that comes after a plant of a replica of a version before, with one look for many lists", async () => {
    await insertWithoutKeys(MANY + 1, MANY + 1);
    const before = asked;
    await keys.check();
    expect(await countWithout()).toBe(0);
    await Promise.all(Array.from({ length: 10 }, () => keys.check()));
    expect(asked).toBe(before + 2);
  });

  it("follow an import of such a replica without another list", async () => {
    await insertWithoutKeys(MANY + 2, 2 * MANY);
    time += LONG_AGO_MS;
    await keys.check();
    await until("All have keys", async () => (await countWithout()) === 0);
  });

  it("keep no service from stopping while the server does not answer", async () => {
    const { promise: answered, reject: giveUp } = Promise.withResolvers<never>();
    const silent: Execute = () => answered;
    const waiting = new NameKeys({ execute: { lists: silent, imports: silent }, log, now: () => time });
    let isClosed = false;
    void waiting.close().then(() => (isClosed = true));
    await until("It has stopped", () => isClosed);
    giveUp(new Error("The server never answers."));
  });
});
