import { afterAll, beforeAll, expect, it } from "bun:test";
import { join } from "node:path";
import { Readable } from "node:stream";
import { asPlantId } from "../../src/domain/plant.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import type { OrderedPage } from "../../src/store/page.ts";
import type { OrderedQuery } from "../../src/store/plants.ts";
import { restoreSqliteStore } from "../../src/store/sqlite/restore.ts";
import type { Store } from "../../src/store/store.ts";
import { openSqlite } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** More than one page looks at in order. They come before the others by name. */
const SHORT = Array.from({ length: 6000 }, (_, at) => toPlant(at, `A ${1000 + at}`));

/** Few enough to be put into order, but for their length. */
const LONG = Array.from({ length: 1500 }, (_, at) => toPlant(10_000 + at, `B ${1000 + at} ${"long ".repeat(400)}`, "long"));

/** Its last word is within the first thousand characters, behind a NUL. */
const MIXED = toPlant(20_000, `C \0 ${"🌵".repeat(990)} last ${"long ".repeat(1000)}`, "mixed");

const LAST = toPlant(20_001, "D last", "mixed");

function toPlant(id: number, name: string, tag?: string): NewPlant {
  return { id: asPlantId(BigInt(id)), name, ...(tag === undefined ? {} : { tag }) };
}

let store: Store;

beforeAll(async () => {
  store = await openSqlite(join(temporaryFolder(), "plants.db"));
  await store.plants.import([...SHORT, ...LONG], { isReplacing: false, isDryRun: false });
  for (const plant of [MIXED, LAST]) await store.plants.create(plant);
  // The index follows the import.
  const query = { tag: undefined, words: [{ anyOf: ["long"] }, { anyOf: ["b"] }], after: undefined, limit: LONG.length, bytesMax: 2 ** 30 };
  const isIndexed = () =>
    store.plants.list(query).then(
      ({ plants }) => plants.length === LONG.length,
      () => false,
    );
  while (!(await isIndexed())) await Bun.sleep(50);
});
afterAll(() => store.close());

function list(query: Partial<OrderedQuery>): Promise<OrderedPage> {
  return store.plants.listOrdered({ order: "name", limit: 1000, bytesMax: 2 ** 30, after: undefined, tag: undefined, words: [], ...query });
}

it("plants with long names are not put into order for each page of a search, and are all found in order", async () => {
  const words = [{ anyOf: ["long"] }, { anyOf: ["b"] }];
  const first = await list({ words });
  expect(first.plants).toEqual([]);
  const met: NewPlant[] = [];
  for (let page = first; page.next; met.push(...page.plants)) page = await list({ words, after: page.next });
  expect(met).toEqual(LONG);
});

it("a tag has an order of its own: its pages are full, however many plants without it come between", async () => {
  const first = await list({ tag: "long", limit: 1000 });
  const { plants, next } = await list({ tag: "long", limit: 1000, after: first.next });
  expect([first.plants, plants, next]).toEqual([LONG.slice(0, 1000), LONG.slice(1000), undefined]);
  expect((await list({ tag: "mixed", order: "newest", limit: 1 })).plants).toEqual([LAST]);
  const untagged = await list({ tag: null, order: "newest", limit: 2 });
  expect(untagged.plants).toEqual([SHORT.at(-1)!, SHORT.at(-2)!]);
});

it("a word of a long name is found behind a NUL, and as far as a search reads", async () => {
  expect((await list({ words: [{ anyOf: ["last"] }] })).plants).toEqual([MIXED, LAST]);
});

it("plants that an import gave another tag are there at once, in every order, before the index has followed it", async () => {
  const retagged = SHORT.map((plant) => ({ ...plant, tag: "retagged" }));
  await store.plants.import(retagged, { isReplacing: true, isDryRun: false });
  for (const [order, words] of [
    ["name", []],
    ["newest", [{ anyOf: ["a"] }]],
  ] as const) {
    const first = await list({ tag: "retagged", order, words });
    const met = [...first.plants];
    for (let page = first; page.next; met.push(...page.plants)) page = await list({ tag: "retagged", order, words, after: page.next });
    expect(met).toEqual(order === "name" ? retagged : retagged.toReversed());
  }
});

it("times that no clock has are in one order, whether the index walks them or those that match are put into order", async () => {
  const path = join(temporaryFolder(), "plants.db");
  const times = [2n ** 63n - 1n, 2n ** 60n, 16n ** 14n, 16n ** 14n - 2n, 0n, -5n];
  const dated = times.map((added, at) => ({ ...toPlant(at, `Ficus ${at}`), added }));
  await restoreSqliteStore(path, Readable.from([{ tokens: [], plants: dated }]));
  const restored = await openSqlite(path);
  const read = (words: OrderedQuery["words"]) =>
    restored.plants.listOrdered({ order: "newest", limit: 10, bytesMax: 2 ** 30, after: undefined, tag: undefined, words });
  // No order until the index is complete.
  const isIndexed = () =>
    read([]).then(
      () => true,
      () => false,
    );
  while (!(await isIndexed())) await Bun.sleep(50);
  const walked = (await read([])).plants;
  expect(walked).toHaveLength(times.length);
  expect((await read([{ anyOf: ["ficus"] }])).plants).toEqual(walked);
  await restored.close();
});
