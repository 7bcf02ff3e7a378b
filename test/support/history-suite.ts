import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import type { Change, ChangeQuery, LogCursor, PastChange, PastPage, PastQuery } from "../../src/store/history.ts";
import type { ImportOptions } from "../../src/store/plants.ts";
import type { Store } from "../../src/store/store.ts";
import { pagesOf, readOn } from "./history-pages.ts";
import { plantOf } from "./plant.ts";
import { rejectionOf } from "./rejection.ts";
import { askUntil, until } from "./until.ts";

/** What every store promises of its changes, with `changesDays` above 0. */
export function testHistory(engine: string, engineUnderTest: { open: () => Promise<Store> }): void {
  describe(`${engine} keeps the promises of a history`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await engineUnderTest.open();
    });
    afterAll(() => store.close());

    const swap = (from: NewPlant | undefined, to: NewPlant | undefined, by?: string) => store.plants.compareAndSwap({ from, to }, by);
    const importAll = (plants: readonly NewPlant[], options: Partial<ImportOptions> = {}) =>
      store.plants.import(plants, { isReplacing: true, isDryRun: false, ...options });

    async function reopen(): Promise<void> {
      await store.close();
      store = await engineUnderTest.open();
    }

    const readAll = async (query: Partial<ChangeQuery>) => (await readOn(store, query)).changes;

    /** The same once there are so many: on PostgreSQL they are there a little later. */
    const read = (query: Parameters<typeof readAll>[0], count: number) =>
      askUntil(
        () => readAll(query),
        ({ length }) => length >= count,
      );

    const short = (changes: readonly Change[]) => changes.map(({ id, kind, plant }) => [Number(id), kind, plant?.name]);

    it("tells each change of plants in order, with what the plant is when that is read", async () => {
      const after = await store.history.newest();
      const began = Date.now();
      await store.plants.create(plantOf(1, "Acer"));
      await swap(plantOf(1, "Acer"), plantOf(1, "Aloe", "x"));
      await swap(undefined, plantOf(2, "Betula"));
      await swap(plantOf(2, "Betula"), undefined);
      await importAll([plantOf(1, "Abies"), plantOf(3, "Cycas")]);
      const all = await read({ after }, 6);
      // An import may make its changes in any order.
      const changes = [...all.slice(0, 4), ...all.slice(4).toSorted((left, right) => Number(left.id - right.id))];
      expect(short(changes)).toEqual([
        [1, "created", "Abies"],
        [1, "replaced", "Abies"],
        [2, "created", undefined],
        [2, "deleted", undefined],
        [1, "replaced", "Abies"],
        [3, "created", "Cycas"],
      ]);
      expect(changes.map(({ tagBefore }) => tagBefore)).toEqual([undefined, null, undefined, null, "x", undefined]);
      for (const { at } of changes) expect(Math.abs(at / 1000 - began)).toBeLessThan(60_000);
      expect(changes.some(({ isForgotten }) => isForgotten)).toBe(false);
    });

    it("tells nothing of what changed no plant", async () => {
      await store.plants.create(plantOf(10, "Dahlia"));
      const after = await store.history.newest();
      const dahlia = plantOf(10, "Dahlia");
      expect(await store.plants.create(dahlia)).toBe("same");
      expect(await swap(dahlia, dahlia)).toBe(true);
      expect(await swap(plantOf(10, "other"), undefined)).toBe(false);
      expect(await swap(undefined, dahlia)).toBe(false);
      expect(await rejectionOf(store.plants.create(plantOf(10, "other")))).toMatchObject({ code: "id_in_use" });
      await importAll([dahlia]);
      await importAll([plantOf(10, "kept"), plantOf(11, "new")], { isDryRun: true });
      await importAll([plantOf(10, "kept")], { isReplacing: false });
      await swap(dahlia, plantOf(10, "Dracaena"));
      expect(short(await read({ after }, 1))).toEqual([[10, "replaced", "Dracaena"]]);
    });

    it("reads on behind each change from its cursor, also after reopening, and from the oldest that is kept", async () => {
      const after = await store.history.newest();
      const plants = Array.from({ length: 50 }, (_, at) => plantOf(20 + at, `Ficus ${at}`));
      await importAll(plants);
      for (const plant of plants.slice(0, 3)) await swap(plant, undefined);
      const all = await read({ after }, 53);
      await reopen();
      for (const [at, { cursor }] of all.entries()) expect(await readAll({ after: cursor, limit: 7 })).toEqual(all.slice(at + 1));
      const whole = await readAll({ after: undefined });
      expect(whole.slice(-53)).toEqual(all);
      expect(await readAll({ after: await store.history.newest() })).toEqual([]);
    });

    it("ends a page at its limit, and reads on behind it", async () => {
      const { changes, cursor, isEnd } = await store.history.read({ after: undefined, limit: 2, tag: undefined });
      expect([changes.length, cursor, isEnd]).toEqual([2, changes[1]!.cursor, false]);
    });

    it("reads on behind changes of long texts, also for a tag that none of them has", async () => {
      const longNamed = (letter: string) => Array.from({ length: 40 }, (_, at) => plantOf(4000 + at, letter.repeat(60_000), "long"));
      await importAll(longNamed("a"));
      const after = await store.history.newest();
      await importAll(longNamed("b"));
      await Promise.all(longNamed("b").map((plant) => swap(plant, undefined)));
      await store.plants.create(plantOf(4100, "Ginkgo", "short"));
      const all = await read({ after }, 81);
      const ids = (some: ReadonlyArray<{ id: bigint }>) => some.map(({ id }) => Number(id)).toSorted((left, right) => left - right);
      expect(ids(all)).toEqual([...ids([...longNamed("b"), ...longNamed("b")]), 4100]);
      expect(await readAll({ after, limit: 7 })).toEqual(all);
      expect(short(await readAll({ after, tag: "short" }))).toEqual([[4100, "created", "Ginkgo"]]);
    });

    it("tells the readers of a tag of plants that have it or had it before the change, and reads on behind what does not match", async () => {
      const after = await store.history.newest();
      await store.plants.create(plantOf(80, "Ginkgo"));
      await store.plants.create(plantOf(81, "Hedera", "wall"));
      await swap(plantOf(80, "Ginkgo"), plantOf(80, "Ginkgo", "tree"));
      await swap(plantOf(81, "Hedera", "wall"), plantOf(81, "Hedera"));
      await swap(plantOf(80, "Ginkgo", "tree"), undefined);
      await read({ after }, 5);
      const ofTag = async (tag: string | null) => (await readAll({ after, tag })).map(({ id, kind }) => [Number(id), kind]);
      expect(await ofTag("wall")).toEqual([[81, "replaced"]]);
      expect(await ofTag("tree")).toEqual([[80, "deleted"]]);
      // Ginkgo had no tag before it got one, and Hedera has none now.
      expect(await ofTag(null)).toEqual([
        [81, "created"],
        [80, "replaced"],
        [81, "replaced"],
      ]);
      expect(await ofTag("other")).toEqual([]);
      const { changes, cursor } = await store.history.read({ after, limit: 10, tag: "other" });
      expect([changes, await readAll({ after: cursor })]).toEqual([[], []]);
    });

    it("refuses a place that is not in its log", async () => {
      const newest = Buffer.from(await store.history.newest(), "base64url");
      for (const at of [7, 15, 23]) {
        const changed = Buffer.from(newest);
        changed[at]! ^= 0x11;
        const others = [changed, Buffer.alloc(24, 0), Buffer.alloc(24, 255)].map((bytes) => bytes.toString("base64url"));
        for (const after of [...others, "AAAA"] satisfies LogCursor[])
          expect(await rejectionOf(store.history.read({ after, limit: 1, tag: undefined }))).toMatchObject({ code: "changes_gone" });
      }
    });

    /** From what to what, in short. */
    const past = (changes: readonly PastChange[]) => changes.map(({ kind, by, from, to }) => [kind, by, from?.name, to?.name]);

    /** All that is asked for in pages, once there are so many changes. */
    async function pages(ask: (query: PastQuery) => Promise<PastPage>, limit: number, count: number): Promise<PastChange[]> {
      return askUntil(
        async () => {
          const found = await Array.fromAsync(pagesOf((before) => ask({ before, limit })));
          for (const changes of found) expect(changes.length).toBeLessThanOrEqual(limit);
          return found.flat();
        },
        ({ length }) => length >= count,
      );
    }

    it("shows the history of a plant, the newest first: from what to what, when and by whom", async () => {
      const [one, two, three] = [plantOf(200, "Juglans"), plantOf(200, "Juniperus", "x"), plantOf(200, "Kalmia")];
      await store.plants.create(one, { owner: "anna" });
      await store.plants.create(plantOf(201, "another"), { owner: "anna" });
      await swap(one, two, "bert");
      await swap(two, undefined, "anna");
      await swap(undefined, three);
      const expected = [
        ["created", "", undefined, "Kalmia"],
        ["deleted", "anna", "Juniperus", undefined],
        ["replaced", "bert", "Juglans", "Juniperus"],
        ["created", "anna", undefined, "Juglans"],
      ];
      for (const limit of [1, 2, 4, 100]) {
        const changes = await pages((query) => store.history.ofPlant(one.id, query), limit, 4);
        expect(past(changes)).toEqual(expected);
        expect(changes[1]!.from).toEqual(two);
        expect(changes.every(({ id, isForgotten, import: of }) => id === one.id && !isForgotten && of === undefined)).toBe(true);
        const times = changes.map(({ at }) => at);
        expect(times).toEqual(times.toSorted((left, right) => right - left));
      }
      await reopen();
      expect(past((await store.history.ofPlant(one.id, { before: undefined, limit: 10 })).changes)).toEqual(expected);
      expect(await store.history.ofPlant(asPlantId(299n), { before: undefined, limit: 10 })).toEqual({ changes: [], next: undefined });
    });

    it("goes on with the history of a plant behind a page, whatever became of the plant since", async () => {
      const [one, two, three] = [plantOf(210, "Larix"), plantOf(210, "Laurus"), plantOf(210, "Lavandula")];
      await store.plants.create(one);
      await swap(one, two);
      await pages((query) => store.history.ofPlant(one.id, query), 10, 2);
      const { next } = await store.history.ofPlant(one.id, { before: undefined, limit: 1 });
      await store.plants.create(plantOf(211, "another"));
      await swap(two, three);
      await pages((query) => store.history.ofPlant(one.id, query), 10, 3);
      expect(past((await store.history.ofPlant(one.id, { before: next, limit: 10 })).changes)).toEqual([
        ["created", "", undefined, "Larix"],
      ]);
    });

    it("lists what was deleted and is not there now, the newest first", async () => {
      const plants = Array.from({ length: 5 }, (_, at) => plantOf(220 + at, `Malus ${at}`, "deleted"));
      for (const plant of plants) await store.plants.create(plant);
      for (const plant of plants) await swap(plant, undefined, "anna");
      await swap(undefined, plants[3]);
      const deleted = async (limit: number) =>
        (await pages((query) => store.history.deleted(query), limit, 4)).filter(({ from }) => from?.tag === "deleted");
      for (const limit of [1, 3, 100]) {
        const found = await askUntil(
          () => deleted(limit),
          ({ length }) => length === 4,
        );
        expect(past(found)).toEqual([4, 2, 1, 0].map((at) => ["deleted", "anna", `Malus ${at}`, undefined]));
      }
    });

    it("lists imports with what each changed, in one request or many, and shows from what to what, which takes it back", async () => {
      const there = plantOf(300, "Nerium", "old");
      await store.plants.create(there);
      const plants = Array.from({ length: 45 }, (_, at) => plantOf(300 + at, `Olea ${at}`));
      const options = { by: "anna", import: "one file" };
      await importAll(plants.slice(0, 25), options);
      await importAll([plantOf(400, "another")], { by: "bert", import: "another file" });
      await importAll(plants.slice(25), options);
      await importAll(plants, { ...options, import: "changed nothing" });
      // Some of its plants change since, one twice.
      await swap(plants[5], plantOf(305, "Picea"));
      await swap(plantOf(305, "Picea"), plantOf(305, "Pinus"));
      await swap(plants[30], undefined);
      const listed = await askUntil(
        () => store.history.imports(2),
        (imports) => imports.length === 2,
      );
      expect(listed.map(({ id, by, created, replaced }) => [id, by, created, replaced])).toEqual([
        ["one file", "anna", 44, 1],
        ["another file", "bert", 1, 0],
      ]);
      const [first] = listed;
      expect(first!.ended).toBeGreaterThan(first!.began);
      expect((await store.history.imports(1)).map(({ id }) => id)).toEqual(["one file"]);
      for (const limit of [7, 20, 100]) {
        const some = await pages((query) => store.history.ofImport("one file", query), limit, 45);
        // One call may change its plants in any order.
        const changes = some.toSorted((left, right) => Number(right.id - left.id));
        expect(changes.map(({ id }) => Number(id))).toEqual(plants.map(({ id }) => Number(id)).toReversed());
        expect(changes.map(({ to }) => to)).toEqual(plants.toReversed());
        expect(changes.map(({ from }) => from)).toEqual([...Array.from({ length: 44 }, () => undefined), there]);
        expect(changes.every(({ by, import: of }) => by === "anna" && of === "one file")).toBe(true);
      }
      const taken = await pages((query) => store.history.ofImport("one file", query), 100, 45);
      const made = await Promise.all(taken.map(({ from, to }) => swap(to, from)));
      expect(made.filter((isMade) => !isMade).length).toBe(2);
      expect(await store.plants.find(there.id)).toEqual(there);
      expect(await store.plants.find(asPlantId(305n))).toMatchObject({ name: "Pinus" });
      expect(await store.plants.find(asPlantId(301n))).toBeUndefined();
      expect(await store.history.ofImport("no file", { before: undefined, limit: 1 })).toEqual({ changes: [], next: undefined });
    });

    it("shows what an import made of plants that change while its pages are read", async () => {
      const plants = Array.from({ length: 90 }, (_, at) => plantOf(600 + at, `Sorbus ${at}`));
      await importAll(plants, { import: "read slowly" });
      const changes: PastChange[] = [];
      const all = await pages(
        async (query) => {
          const page = await store.history.ofImport("read slowly", query);
          changes.push(...page.changes);
          // One of the page that is next, and one of the last page.
          const rest = plants.filter(({ id }) => !changes.some((change) => change.id === id));
          for (const plant of [rest.at(-1), rest[0]]) if (plant) await swap(plant, plantOf(Number(plant.id), "Taxus"));
          return page;
        },
        20,
        90,
      );
      expect(Object.fromEntries(all.map(({ id, to }) => [id, to]))).toEqual(Object.fromEntries(plants.map((plant) => [plant.id, plant])));
    });

    it("takes an import back that has one plant more than once", async () => {
      await store.plants.create(plantOf(410, "Quercus"));
      await importAll([plantOf(410, "Rosa"), plantOf(411, "Salix"), plantOf(410, "Salvia")], { import: "twice" });
      const changes = await pages((query) => store.history.ofImport("twice", query), 1, 2);
      for (const { from, to } of changes) expect(await swap(to, from)).toBe(true);
      expect(await store.plants.find(asPlantId(410n))).toMatchObject({ name: "Quercus" });
      expect(await store.plants.find(asPlantId(411n))).toBeUndefined();
    });

    it("refuses a place of another log for people too", async () => {
      const query = { before: Buffer.alloc(24, 7).toString("base64url"), limit: 1 };
      const { ofPlant, deleted, ofImport } = store.history;
      for (const ask of [() => ofPlant(asPlantId(1n), query), () => deleted(query), () => ofImport("twice", query)])
        expect(await rejectionOf(ask())).toMatchObject({ code: "changes_gone" });
    });

    it("says that there may be more to read only once it can be read, until that is ended", async () => {
      const after = await store.history.newest();
      const found = new Set<number>();
      let calls = 0;
      async function look(): Promise<void> {
        calls += 1;
        for (const { id } of await readAll({ after })) found.add(Number(id));
      }
      const end = store.history.watch(() => void look());
      for (let id = 500; id < 515; id += 1) {
        await store.plants.create(plantOf(id, "Ilex"));
        await until(`Plant ${id} was found`, () => found.has(id));
      }
      end();
      await Bun.sleep(300);
      calls = 0;
      await store.plants.create(plantOf(515, "Ilex"));
      await Bun.sleep(300);
      expect(calls).toBe(0);
    });
  });
}
