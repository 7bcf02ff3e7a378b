import { expect, it } from "bun:test";
import { CHANGES_BYTES_MAX } from "../../src/store/history.ts";
import { pagesOf } from "../support/history-pages.ts";
import { plantOf } from "../support/plant.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { openStore } from "../support/postgres/store.ts";

const BYTES = 60_000;

it("a page of the past is read from the database up to about a million bytes, and the next one goes on there", async () => {
  const { plants: store, history, close } = await openStore(await (await sharedCluster()).createDatabase());
  const plants = Array.from({ length: 40 }, (_, at) => plantOf(at, "x".repeat(BYTES)));
  for (const plant of plants) {
    await store.create(plant);
    await store.compareAndSwap({ from: plant, to: undefined });
  }
  const pages = await Array.fromAsync(pagesOf((before) => history.deleted({ before, limit: 1000 })));
  expect(Math.max(...pages.map(({ length }) => length))).toBe(Math.ceil(CHANGES_BYTES_MAX / BYTES));
  expect(pages.flat().map(({ id }) => id)).toEqual(plants.map(({ id }) => id).toReversed());
  await close();
});
