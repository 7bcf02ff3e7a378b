import { afterEach, describe, expect, it } from "bun:test";
import { readOn } from "../support/history-pages.ts";
import { plantOf } from "../support/plant.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { openStore } from "../support/postgres/store.ts";
import { rejectionOf } from "../support/rejection.ts";
import { until } from "../support/until.ts";
import type { Store } from "../../src/store/store.ts";

const stores: Store[] = [];
afterEach(async () => void (await Promise.all(stores.splice(0).map((store) => store.close()))));

async function open(url: string): Promise<Store> {
  const store = await openStore(url);
  stores.push(store);
  return store;
}

describe("a promotion that lost the last commits", () => {
  it("is told to those who have read them, and misses nothing for those who have not", async () => {
    const primary = await startCluster();
    const standby = await primary.addStandby();
    const database = await primary.createDatabase();
    const name = new URL(database).pathname.slice(1);
    const store = await open(database);
    await store.plants.create(plantOf(1));
    const kept = await store.history.newest();
    await until("The standby has it", async () => (await standby.query("SELECT FROM plants WHERE id = 1", name)).length === 1);
    // From here on commits don't wait for the standby, and it gets none.
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await primary.query("SELECT pg_reload_conf()");
    await standby.query("ALTER SYSTEM SET primary_conninfo = ''");
    await standby.query("SELECT pg_reload_conf()");
    await until("No standby follows", async () => (await primary.query("SELECT FROM pg_stat_replication")).length === 0);
    await until(
      "It doesn't wait",
      async () => (await primary.query("SHOW synchronous_standby_names"))[0]!["synchronous_standby_names"] === "",
    );
    const lost = [];
    for (const id of [2, 3]) {
      await store.plants.create(plantOf(id));
      lost.push(await store.history.newest());
    }
    await primary.kill();
    await standby.promote();
    const later = await open(standby.url(name));
    // Its transactions have the numbers of those that were lost.
    for (let id = 10; id < 20; id += 1) await later.plants.create(plantOf(id));
    for (const place of lost) expect(await rejectionOf(readOn(later, { after: place }))).toMatchObject({ code: "changes_gone" });
    expect((await readOn(later, { after: kept })).changes.map(({ id }) => Number(id))).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });
});
