import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { nameKey } from "../../src/domain/name-order.ts";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../src/domain/plant.ts";
import type { NewPlant, PlantId } from "../../src/domain/plant.ts";
import type { Place } from "../../src/store/page.ts";
import type { OrderedQuery } from "../../src/store/plants.ts";
import type { Store } from "../../src/store/store.ts";
import { tokenize } from "../../src/domain/terms.ts";
import { plantOf } from "./plant.ts";
import { inForm } from "./run-form.ts";
import { askUntil } from "./until.ts";

const ALL = { limit: 1000, bytesMax: 2 ** 30, after: undefined, tag: undefined, words: [] } as const;
const CREATE = { isReplacing: false, isDryRun: false };
const REPLACE = { isReplacing: true, isDryRun: false };

/** In the night, more than are put into order for a page. */
const MANY = inForm(22_000, 22_000, 6000);

const NAMES = [
  "Zamioculcas|apfel|Äpfel|Apfelbaum|æble|Ærø|ab|ad|af|straße|Strasse|Strassf|10 cm|9 cm|٩||Ёлка|ель",
  "йод|ирис|Фикус|ΑΛΟΗ|αλόη|Βασιλικός|צבר|אלוורה|صبار|ألوة|サボテン|さくら|かき|カキ|선인장|仙人掌|🌵 cactus|Mentha × piperita",
  "Mentha 'Chocolate'|a\0b|\u0001|e\u0301tage|étage|etagf|เก|กอ",
].flatMap((line) => line.split("|"));

/** What every store promises of lists by name and by newest. `open` opens a new store at first, then the same one. */
export function testOrders(engine: string, { open }: { open: () => Promise<Store> }): void {
  describe(`a sorted list on ${engine}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    async function reopen(): Promise<void> {
      await store.close();
      store = await open();
    }

    /** All pages, and how many plants each has. An index that is still being made is waited for. */
    async function read(query: Partial<OrderedQuery> & Pick<OrderedQuery, "order">): Promise<{ plants: NewPlant[]; sizes: number[] }> {
      const plants: NewPlant[] = [];
      const sizes: number[] = [];
      for (let after: Place | undefined, isFirst = true; isFirst || after; isFirst = false) {
        const page = await patiently(() => store.plants.listOrdered({ ...ALL, ...query, after }));
        expect(page.places.map(({ id }) => id)).toEqual(page.plants.map(({ id }) => id));
        plants.push(...page.plants);
        sizes.push(page.plants.length);
        after = page.next;
      }
      return { plants, sizes };
    }

    async function idsOf(query: Parameters<typeof read>[0]): Promise<PlantId[]> {
      return (await read(query)).plants.map(({ id }) => id);
    }

    const named = NAMES.flatMap((name, at) => [plantOf(1000 + at, name, at % 3 === 0 ? "odd" : undefined), plantOf(-1000 - at, name)]);
    /** They are created in the other order, one commit each. */
    const newestFirst = named.map(({ id }) => id);
    const byName = named.toSorted((left, right) => compare(nameKey(left.name), nameKey(right.name)) || compare(left.id, right.id));

    it("is by name, whatever the size of a page, and by id where names are equal, also after reopening", async () => {
      for (const plant of named.toReversed()) await store.plants.create(plant);
      for (const limit of [1, 2, 7, 1000]) {
        expect((await read({ order: "name", limit })).plants).toEqual(byName);
        expect((await read({ order: "-name", limit })).plants).toEqual(byName.toReversed());
      }
      await reopen();
      expect((await read({ order: "name", limit: 10 })).plants).toEqual(byName);
    });

    it("is by name with a tag, with words, and with both", async () => {
      const odd = byName.filter(({ tag }) => tag === "odd");
      const found = byName.filter(({ name }) => tokenize(name).some((word) => word.startsWith("e")));
      expect(found.length).toBeGreaterThan(3);
      for (const limit of [1, 3, 1000]) {
        expect((await read({ order: "name", limit, tag: "odd" })).plants).toEqual(odd);
        expect((await read({ order: "name", limit, words: [{ anyOf: ["e"] }] })).plants).toEqual(found);
        expect((await read({ order: "name", limit, words: [{ anyOf: ["e"] }], tag: "odd" })).plants).toEqual(
          found.filter(({ tag }) => tag === "odd"),
        );
        expect((await read({ order: "-name", limit, tag: "odd" })).plants).toEqual(odd.toReversed());
        expect((await read({ order: "-name", limit, words: [{ anyOf: ["e"] }] })).plants).toEqual(found.toReversed());
        expect((await read({ order: "newest", limit, words: [{ anyOf: ["e"] }] })).plants).toEqual(
          named.filter((plant) => found.includes(plant)),
        );
      }
    });

    it("is by newest, with a changed plant at its old place and one that was created again first, also after reopening", async () => {
      const [first, second] = [named[5]!, named[8]!];
      await store.plants.compareAndSwap({ from: first, to: { ...first, name: "renamed" } });
      await store.plants.import([{ ...first, name: "replaced" }], REPLACE);
      await store.plants.import([plantOf(77, "dry")], { isReplacing: true, isDryRun: true });
      expect(await idsOf({ order: "newest", limit: 9 })).toEqual(newestFirst);
      await store.plants.compareAndSwap({ from: second, to: undefined });
      await store.plants.compareAndSwap({ from: undefined, to: second });
      await reopen();
      const expected = [second.id, ...newestFirst.filter((id) => id !== second.id)];
      for (const limit of [1, 1000]) {
        expect(await idsOf({ order: "newest", limit })).toEqual(expected);
        expect(await idsOf({ order: "oldest", limit })).toEqual(expected.toReversed());
      }
      await store.plants.compareAndSwap({ from: { ...first, name: "replaced" }, to: first });
    });

    it("shows a change at its new place at once, and not at its old one, 30 times", async () => {
      for (let id = 6000; id < 6030; id += 1) {
        const [first, second] = [plantOf(id, `!! first ${id}`), plantOf(id, `!! second ${id}`)];
        await store.plants.create(first);
        const top = async () => (await store.plants.listOrdered({ ...ALL, order: "name", words: [{ anyOf: [`${id}`] }] })).plants;
        const all = async () => (await read({ order: "name" })).plants.filter((plant) => plant.id === first.id);
        expect(await top()).toEqual([first]);
        expect(await all()).toEqual([first]);
        expect(await store.plants.compareAndSwap({ from: first, to: second })).toBe(true);
        expect(await all()).toEqual([second]);
        expect(await store.plants.compareAndSwap({ from: second, to: undefined })).toBe(true);
        expect(await all()).toEqual([]);
      }
    });

    it("pages through many plants with the same name, with the least and the greatest id", async () => {
      const ids = [PLANT_ID_MIN, ...Array.from({ length: 300 }, (_, at) => 7000 + 3 * at), PLANT_ID_MAX];
      await store.plants.import(
        ids.map((id, at) => plantOf(id, at % 2 === 0 ? "Same" : "sÄme", "same")),
        CREATE,
      );
      const rising = ids.map((id) => asPlantId(BigInt(id)));
      for (const limit of [1, 50, 301])
        for (const query of [{ tag: "same" }, { words: [{ anyOf: ["same"] }] }]) {
          expect(await eventually(() => idsOf({ order: "name", limit, ...query }), ids.length)).toEqual(rising);
          expect(await idsOf({ order: "-name", limit, ...query })).toEqual(rising.toReversed());
          // They were imported at once, but by the clocks of several workers on Citus.
          const oldest = await idsOf({ order: "oldest", limit, ...query });
          expect(oldest.toSorted(compare)).toEqual(rising);
          expect(await idsOf({ order: "newest", limit, ...query })).toEqual(oldest.toReversed());
        }
      const page = await store.plants.listOrdered({
        ...ALL,
        order: "name",
        limit: 3,
        after: { key: nameKey("same"), id: asPlantId(7003n) },
      });
      expect(page.plants.map(({ id }) => id)).toEqual([7006n, 7009n, 7012n].map(asPlantId));
      const last = await store.plants.listOrdered({ ...ALL, order: "name", limit: 1, after: { key: nameKey("same"), id: PLANT_ID_MAX } });
      expect(last.plants[0]?.name).not.toMatch(/s.me/i);
      const back = { ...ALL, order: "-name", limit: 1, after: { key: nameKey("same"), id: PLANT_ID_MIN } } as const;
      const [before] = (await store.plants.listOrdered(back)).plants;
      expect(nameKey(before!.name) < nameKey("same")).toBe(true);
    });

    it("ends a page with the plant at which names and tags reach a number of bytes", async () => {
      const plants = Array.from({ length: 9 }, (_, at) => plantOf(9000 + at, `~${at}${"large".repeat(at * 200)}`, "big"));
      await store.plants.import(plants, CREATE);
      await eventually(() => idsOf({ order: "name", tag: "big" }), plants.length);
      for (const bytesMax of [1, 3000, 2 ** 20])
        for (const query of [{}, { tag: "big" }]) {
          const sizes: number[] = [];
          const met: NewPlant[] = [];
          for (let after: Place | undefined = { key: nameKey("~"), id: PLANT_ID_MIN }; after && met.length < 9;) {
            const page = await store.plants.listOrdered({ ...ALL, order: "name", after, bytesMax, ...query });
            met.push(...page.plants);
            sizes.push(page.plants.length);
            after = page.next;
          }
          expect(met.slice(0, 9)).toEqual(plants);
          if (bytesMax === 1) expect(sizes).toEqual(sizes.map(() => 1));
          if (bytesMax === 3000) expect(sizes[0]).toBe(3);
        }
    });

    it("finds each of many that match exactly once, with bounded work for a page", async () => {
      const tags = ["half", "other", "half", "few"];
      const plants = Array.from({ length: MANY }, (_, at) => plantOf(20_000 + at, `Bulk ${(at * 7919) % MANY}`, tags[at % 4]));
      await store.plants.import(plants, CREATE);
      await eventually(() => idsOf({ order: "name", tag: "few" }), MANY / 4);
      for (const tag of ["half", "few"]) {
        const some = plants.filter((plant) => plant.tag === tag);
        const ids = some.toSorted((left, right) => compare(nameKey(left.name), nameKey(right.name))).map(({ id }) => id);
        expect(await idsOf({ order: "name", tag, words: [{ anyOf: ["bulk"] }], limit: 1000 })).toEqual(ids);
        expect(await idsOf({ order: "-name", tag, words: [{ anyOf: ["bulk"] }], limit: 1000 })).toEqual(ids.toReversed());
        expect(await idsOf({ order: "-name", tag, limit: 300 })).toEqual(ids.toReversed());
        const newest = await idsOf({ order: "newest", tag, limit: 1000 });
        expect(newest.toSorted(compare)).toEqual(ids.toSorted(compare));
        expect(await idsOf({ order: "oldest", tag, limit: 1000 })).toEqual(newest.toReversed());
      }
      const all = (await read({ order: "name" })).plants;
      const untagged = all.filter(({ tag }) => tag === undefined);
      expect((await read({ order: "name", tag: null, limit: 50 })).plants).toEqual(untagged);
      for (const limit of [100, 1000]) expect((await read({ order: "-name", limit })).plants).toEqual(all.toReversed());
      expect(await idsOf({ order: "oldest" })).toEqual((await idsOf({ order: "newest" })).toReversed());
    });

    it("shows every plant that stays unchanged exactly once, whatever else is created, renamed and deleted", async () => {
      const isFixed = (id: bigint) => id % 2n === 0n && (id < 20_000n || id > 20_000n + BigInt(MANY));
      const stay = (await idsOf({ order: "name" })).filter(isFixed);
      for (const order of ["name", "newest", "-name", "oldest"] as const) {
        const met: PlantId[] = [];
        let turn = 0;
        for (let after: Place | undefined, isFirst = true; isFirst || after; isFirst = false) {
          const page = await store.plants.listOrdered({ ...ALL, order, limit: 1000, after });
          met.push(...page.plants.map(({ id }) => id).filter(isFixed));
          after = page.next;
          turn += 1;
          const fresh = plantOf(100_001 + 2 * turn, `${String.fromCharCode(97 + (turn % 26))} fresh ${order}`);
          const moved = plantOf(20_001 + 2 * turn, `${String.fromCharCode(122 - (turn % 26))} moved ${order}`, "other");
          await store.plants.import([fresh, moved], REPLACE);
        }
        expect(met.toSorted(compare)).toEqual(stay.toSorted(compare));
      }
    });
  });
}

function compare<Value extends bigint | string>(left: Value, right: Value): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Tries again while an index is being made. */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof Error) || !("code" in thrown) || thrown.code !== "index_building" || tries > 200) throw thrown;
      await Bun.sleep(50);
    }
  }
}

/** The list once it has as many plants: the index follows an import as fast as it can. */
function eventually(list: () => Promise<PlantId[]>, length: number): Promise<PlantId[]> {
  return askUntil(list, (ids) => ids.length === length);
}
