import { expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import { CHANGES_BYTES_MAX } from "../../src/store/history.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { openStore } from "../support/postgres/store.ts";

const BYTES = 60_000;
const PLANTS = 40n;

it("a page of the past is read from the database up to about a million bytes, and the next one goes on there", async () => {
  const { plants, history, close } = await openStore(await (await sharedCluster()).createDatabase());
  const ids = Array.from({ length: Number(PLANTS) }, (_, at) => asPlantId(BigInt(at)));
  for (const id of ids) {
    const plant = { id, name: "x".repeat(BYTES) };
    await plants.create(plant);
    await plants.compareAndSwap({ from: plant, to: undefined });
  }
  const pages: number[] = [];
  const read: bigint[] = [];
  for (let before: string | undefined; ;) {
    const { changes, next } = await history.deleted({ before, limit: 1000 });
    pages.push(changes.length);
    read.push(...changes.map(({ id }) => id));
    before = next;
    if (next === undefined) break;
  }
  expect(Math.max(...pages)).toBe(Math.ceil(CHANGES_BYTES_MAX / BYTES));
  expect(read).toEqual(ids.toReversed());
  await close();
});
