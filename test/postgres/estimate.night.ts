import { afterAll, describe, expect, it } from "bun:test";
import { queryOnce } from "../support/postgres/database-server.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { openStore } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";

const ALL = { tag: undefined, words: [] };

const url = await (await sharedCluster()).createDatabase();
const store = await openStore(url);

/** With keys of names: an ANALYZE counts a plant twice while the service adds its key. */
async function insert(from: number, to: number): Promise<void> {
  const rows = `SELECT id, 'plant ' || id, 'trees', 'plant', '8' FROM generate_series(${from}, ${to}) AS id`;
  await queryOnce(url, `INSERT INTO plants (id, name, tag, words, name_key) ${rows}`);
}

/** PostgreSQL writes what it has counted a moment after the commit. */
async function untilAbout(...plants: readonly number[]): Promise<void> {
  const wanted = plants.map((about) => ({ plants: about, precision: "about" }));
  await until(`There are about ${plants.join(" or ")}`, async () => {
    const count = await store.plants.count(ALL);
    return wanted.some((about) => Bun.deepEquals(count, about));
  });
}

describe("the number of all plants on PostgreSQL", () => {
  afterAll(() => store.close());

  it("is exact up to 20,000, and more than that is said while there are no statistics", async () => {
    await queryOnce(url, "ALTER TABLE plants SET (autovacuum_enabled = false)");
    await insert(1, 20_000);
    expect(await store.plants.count(ALL)).toEqual({ plants: 20_000, precision: "exact" });
    await insert(20_001, 20_001);
    expect(await store.plants.count(ALL)).toEqual({ plants: 20_000, precision: "atLeast" });
  });

  it("comes from the statistics from then on, rounded, and follows what is written after them", async () => {
    await insert(20_002, 52_345);
    await queryOnce(url, "ANALYZE plants");
    expect(await store.plants.count(ALL)).toEqual({ plants: 52_000, precision: "about" });
    await insert(52_346, 100_500);
    await untilAbout(100_000);
  });

  it("follows deletions without a VACUUM", async () => {
    await queryOnce(url, "DELETE FROM plants WHERE id > 40500");
    await untilAbout(41_000);
  });

  it("does not count what is changed twice", async () => {
    await queryOnce(url, "UPDATE plants SET tag = 'other'");
    // Until then the count may not have been written.
    await insert(40_501, 45_000);
    await untilAbout(45_000);
  });

  it("comes from the size of the table when PostgreSQL has lost what it counted", async () => {
    // What was deleted stays as long as anyone's snapshot, such as that of an autovacuum, may see it.
    await until("The table is as small as it gets", async () => {
      await queryOnce(url, "VACUUM FULL ANALYZE plants");
      const [row] = await queryOnce(url, "SELECT relpages FROM pg_class WHERE oid = 'plants'::regclass");
      return Number(row!["relpages"]) < 500;
    });
    await queryOnce(url, "SELECT pg_stat_reset()");
    await insert(45_001, 90_500);
    // A page more or less changes nothing.
    await untilAbout(91_000, 90_000);
  });

  it("is exact again when few are left", async () => {
    await queryOnce(url, "DELETE FROM plants WHERE id > 10");
    await queryOnce(url, "VACUUM ANALYZE plants");
    expect(await store.plants.count(ALL)).toEqual({ plants: 10, precision: "exact" });
  });
});
