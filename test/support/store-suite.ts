import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../src/domain/plant.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import type { Page } from "../../src/store/page.ts";
import type { Store } from "../../src/store/store.ts";
import type { ListQuery } from "../../src/store/plants.ts";
import { allTokens } from "../../src/store/tokens.ts";
import type { Token } from "../../src/store/tokens.ts";
import { wordsOfSearch } from "../../src/domain/terms.ts";
import { plantOf } from "./plant.ts";
import { below, openRandom, seedOf } from "./random.ts";
import { rejectionOf } from "./rejection.ts";

const ALL: ListQuery = { limit: 1000, bytesMax: 2 ** 30, after: undefined, tag: undefined, words: [] };
const ALONE = { cascade: false };
const FAMILY = { cascade: true };
const DAY_MS = 24 * 60 * 60 * 1000;

/** What every store promises. `reopen` closes the store and opens the same one again. */
export function testStore(engine: string, engineUnderTest: { open: () => Promise<Store> }): void {
  describe(`${engine} keeps the promises of a store`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await engineUnderTest.open();
    });
    afterAll(() => store.close());

    async function reopen(): Promise<void> {
      await store.close();
      store = await engineUnderTest.open();
    }

    const find = (id: number | bigint) => store.plants.find(asPlantId(BigInt(id)));
    const create = (...[id, name, tag]: Parameters<typeof plantOf>) => store.plants.create(plantOf(id, name, tag));
    const swap = (from: NewPlant | undefined, to: NewPlant | undefined) => store.plants.compareAndSwap({ from, to });
    const importAll = (plants: readonly NewPlant[], options: { isReplacing?: boolean; isDryRun?: boolean } = {}) =>
      store.plants.import(plants, { isReplacing: false, isDryRun: false, ...options });
    const tokensOf = async (name: string) => (await Array.fromAsync(allTokens(store.tokens))).filter((one) => one.name === name);

    for (const id of [0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)].map(asPlantId)) {
      it(`finds plant ${id} exactly as created, also after reopening`, async () => {
        const plant = { id, name: `plant \0 ${id} 🌿`, tag: "" };
        expect(await store.plants.create(plant)).toBe("created");
        expect(await find(id)).toEqual(plant);
        await reopen();
        expect(await find(id)).toEqual(plant);
      });
    }

    it("distinguishes a plant without a tag from one with an empty tag", async () => {
      const id = asPlantId(10n);
      expect(await store.plants.create({ id, name: "x" })).toBe("created");
      expect(await rejectionOf(store.plants.create({ id, name: "x", tag: "" }))).toMatchObject({ code: "id_in_use" });
      expect(await find(id)).toEqual({ id, name: "x" });
    });

    it("answers both of two equal creates in one group commit, and stores one plant", async () => {
      const plant = { id: asPlantId(11n), name: "twin" };
      expect((await Promise.all([store.plants.create(plant), store.plants.create(plant)])).toSorted()).toEqual(["created", "same"]);
      expect(await store.plants.create(plant)).toBe("same");
    });

    it("refuses the second of two different plants with one id in one group commit, and creates the rest", async () => {
      const creates = [12n, 12n, 13n].map((id, at) => store.plants.create({ id: asPlantId(id), name: `plant ${at}` }));
      const outcomes = await Promise.allSettled(creates);
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await find(12)).toMatchObject({ name: "plant 0" });
      expect(await find(13)).toMatchObject({ name: "plant 2" });
    });

    const ALOE = plantOf(100, "Aloe vera", "x");

    for (const [why, from, to] of [
      ["creates a plant", undefined, ALOE],
      ["changes the name", ALOE, plantOf(100, "Aloe \0 🌿", "x")],
      ["changes the tag", ALOE, plantOf(100, "Aloe vera", "y")],
      ["removes the tag", ALOE, plantOf(100, "Aloe vera")],
      ["adds an empty tag", plantOf(100, "Aloe vera"), plantOf(100, "Aloe vera", "")],
      ["deletes a plant", ALOE, undefined],
      ["deletes a plant without a tag", plantOf(100, "Aloe vera"), undefined],
    ] as const) {
      it(`${why} in a compare-and-swap, also after reopening`, async () => {
        if (from) await store.plants.create(from);
        expect(await swap(from, to)).toBe(true);
        expect(await find(ALOE.id)).toEqual(to);
        await reopen();
        expect(await find(ALOE.id)).toEqual(to);
        if (to) expect(await swap(to, undefined)).toBe(true);
      });
    }

    for (const [why, from, to] of [
      ["another name", plantOf(101, "Aloe ferox", "x"), plantOf(101, "new")],
      ["another tag", plantOf(101, "Aloe vera", "y"), plantOf(101, "new")],
      ["an empty tag", plantOf(101, "Aloe vera", ""), plantOf(101, "new")],
      ["no tag", plantOf(101, "Aloe vera"), plantOf(101, "new")],
      ["no plant", undefined, plantOf(101, "new")],
      ["another name of one to be deleted", plantOf(101, "Aloe ferox", "x"), undefined],
    ] as const) {
      it(`swaps nothing if the expected plant differs: ${why}`, async () => {
        const stored = plantOf(101, "Aloe vera", "x");
        await store.plants.create(stored);
        expect(await swap(from, to)).toBe(false);
        expect(await find(stored.id)).toEqual(stored);
      });
    }

    it("swaps nothing if there is no plant", async () => {
      for (const to of [plantOf(102, "new"), undefined])
        expect(await store.plants.compareAndSwap({ from: plantOf(102, "old"), to })).toBe(false);
      expect(await find(102)).toBeUndefined();
    });

    it("makes exactly one of two swaps of one plant in one group commit, and of two that create it", async () => {
      const old = plantOf(103, "old");
      for (const from of [undefined, old]) {
        const names = from ? ["left", "right"] : ["old", "other"];
        const made = await Promise.all(names.map((name) => store.plants.compareAndSwap({ from, to: plantOf(103, name) })));
        expect(made).toEqual([true, false]);
        expect(await find(old.id)).toMatchObject({ name: names[0] });
      }
    });

    it("makes swaps that build on each other in one group commit", async () => {
      const [first, second] = [plantOf(104, "first"), plantOf(104, "second")];
      const swaps = [
        { from: undefined, to: first },
        { from: first, to: second },
        { from: second, to: undefined },
        { from: undefined, to: second },
      ];
      expect(await Promise.all(swaps.map(({ from, to }) => swap(from, to)))).toEqual([true, true, true, true]);
      expect(await find(second.id)).toEqual(second);
    });

    it("returns the outcome for each plant of an import, in which the first plant with an id wins", async () => {
      await create(110, "there", "x");
      const plants = [
        plantOf(110, "there", "x"),
        plantOf(110, "there"),
        plantOf(111, "new"),
        plantOf(111, "new"),
        plantOf(111, "new", ""),
        plantOf(PLANT_ID_MIN + 1n, "least but one"),
      ];
      const outcomes = ["same", "in_use", "created", "same", "in_use", "created"] as const;
      expect(await importAll(plants, { isDryRun: true })).toEqual(outcomes);
      expect(await find(111)).toBeUndefined();
      expect(await importAll(plants)).toEqual(outcomes);
      await reopen();
      expect(await find(110)).toEqual(plantOf(110, "there", "x"));
      expect(await find(111)).toEqual(plantOf(111, "new"));
      expect(await store.plants.find(asPlantId(PLANT_ID_MIN + 1n))).toEqual(plantOf(PLANT_ID_MIN + 1n, "least but one"));
    });

    it("replaces plants in an import if asked to, and only returns the outcomes in a dry run", async () => {
      await create(112, "there", "x");
      const plants = [plantOf(112, "there"), plantOf(112, "there"), plantOf(113, "new"), plantOf(113, "newer", "")];
      const outcomes = ["replaced", "same", "created", "replaced"] as const;
      expect(await importAll(plants, { isReplacing: true, isDryRun: true })).toEqual(outcomes);
      expect(await find(112)).toEqual(plantOf(112, "there", "x"));
      expect(await importAll(plants, { isReplacing: true })).toEqual(outcomes);
      await reopen();
      expect(await find(112)).toEqual(plantOf(112, "there"));
      expect(await find(113)).toEqual(plantOf(113, "newer", ""));
    });

    it("imports nothing from an empty import", async () => {
      expect(await importAll([])).toEqual([]);
    });

    const listed = [
      plantOf(PLANT_ID_MIN, "ends meet", "list"),
      plantOf(-201, "Ficus lyrata", "list"),
      plantOf(-200, "Ficus benjamina"),
      plantOf(200, "Lyra fica", "list"),
      plantOf(201, "Ficus \0 lyrata", ""),
      plantOf(PLANT_ID_MAX, "ends meet", "list"),
    ];

    async function list(query: Partial<ListQuery>): Promise<bigint[]> {
      const { plants } = await store.plants.list({ ...ALL, ...query });
      return plants.map(({ id }) => id);
    }

    it("lists plants by id after another id, up to the limit, and exactly as stored", async () => {
      for (const plant of listed) await swap(await find(plant.id), plant);
      expect(await list({ after: asPlantId(-202n), limit: 2 })).toEqual([-201n, -200n]);
      expect(await list({ after: asPlantId(-201n), limit: 1 })).toEqual([-200n]);
      expect(await list({ after: asPlantId(199n), limit: 2 })).toEqual([200n, 201n]);
      expect(await list({ after: asPlantId(PLANT_ID_MAX) })).toEqual([]);
      expect(await list({ limit: 1 })).toEqual([PLANT_ID_MIN]);
      expect(await store.plants.list({ ...ALL, limit: 1, after: asPlantId(200n) })).toEqual({ plants: [listed[4]!], isLast: false });
    });

    it("ends a page with the plant at which names and tags reach a number of bytes, and says whether there are more", async () => {
      const ids = Array.from({ length: 7 }, (_, at) => 3000 + at);
      // 50, 60 … 110 bytes, because each character takes two.
      for (const [at, id] of ids.entries()) await create(id, `Salix ${"é".repeat(20 + 5 * at)}`, "pall");
      const page = async (query: Partial<ListQuery>) => {
        const { plants, isLast } = await store.plants.list({ ...ALL, limit: 7, after: asPlantId(2999n), ...query });
        return [plants.length, isLast];
      };
      for (const query of [{ tag: "pall" }, { words: [{ anyOf: ["sal"] }] }, { words: [{ anyOf: ["sal"] }], tag: "pall" }]) {
        // One plant is always there: otherwise nothing could follow.
        expect(await page({ ...query, bytesMax: 1 })).toEqual([1, false]);
        expect(await page({ ...query, bytesMax: 50 })).toEqual([1, false]);
        expect(await page({ ...query, bytesMax: 51 })).toEqual([2, false]);
        expect(await page({ ...query, bytesMax: 450 })).toEqual([6, false]);
        expect(await page({ ...query, bytesMax: 451, after: asPlantId(3000n) })).toEqual([6, true]);
        expect(await page({ ...query, bytesMax: 451, limit: 3 })).toEqual([3, false]);
        expect(await page({ ...query, bytesMax: 1, after: asPlantId(3005n) })).toEqual([1, true]);
      }
    });

    it("ends a page of large names between small ones at the right place, and reads them whole", async () => {
      const plants = Array.from({ length: 30 }, (_, at) => plantOf(3100 + at, (at % 10 === 9 ? "large" : "s").repeat(at * 100), "mixed"));
      await importAll(plants);
      const ends = plants.map((_, at) => plants.slice(0, at + 1).reduce((sum, { name }) => sum + name.length + "mixed".length, 0));
      for (const bytesMax of [1, 10_000, 50_000, 2 ** 20]) {
        const page = await store.plants.list({ ...ALL, tag: "mixed", limit: 30, bytesMax });
        const count = ends.findIndex((end) => end >= bytesMax) + 1 || 30;
        expect(page.plants.map(({ id }) => id)).toEqual(plants.slice(0, count).map(({ id }) => id));
        expect(page).toEqual({ plants: plants.slice(0, count), isLast: count === 30 });
      }
    });

    it("follows pages that end early to the last plant, whatever their names contain", async () => {
      const ids = Array.from({ length: 40 }, (_, at) => 4000 + at);
      await store.plants.import(
        ids.map((id) => plantOf(id, "\0\u0001é🌿".repeat(id % 7), id % 3 === 0 ? "\0" : undefined)),
        { isReplacing: false, isDryRun: false },
      );
      for (const bytesMax of [1, 8, 9, 20, 100]) {
        const met: number[] = [];
        for (let after = asPlantId(3999n), isEnd = false; !isEnd;) {
          const { plants, isLast } = await store.plants.list({ ...ALL, bytesMax, after });
          met.push(...plants.map(({ id }) => Number(id)).filter((id) => id < 5000));
          after = plants.at(-1)!.id;
          isEnd = isLast || after >= 5000n;
        }
        expect(met).toEqual(ids);
      }
    });

    it("lists the plants of one tag, even the empty one", async () => {
      expect(await list({ tag: "list" })).toEqual([PLANT_ID_MIN, -201n, 200n, PLANT_ID_MAX]);
      expect(await list({ tag: "list", after: asPlantId(PLANT_ID_MIN), limit: 2 })).toEqual([-201n, 200n]);
      expect(await list({ tag: "", after: asPlantId(200n), limit: 1 })).toEqual([201n]);
      expect(await list({ tag: "lis" })).toEqual([]);
    });

    it("lists the plants without a tag, alone and with words, and at once after a change of the tag", async () => {
      // What was imported before may be indexed later.
      const words = [{ anyOf: ["bare"] }];
      const plants = [plantOf(5000, "Bare root"), plantOf(5001, "Bare", ""), plantOf(5002, "Barefoot"), plantOf(5003, "Bare", "none")];
      for (const plant of plants) await store.plants.create(plant);
      expect(await list({ words, tag: null })).toEqual([5000n, 5002n]);
      expect(await list({ words, tag: null, after: plants[0]!.id, limit: 1 })).toEqual([5002n]);
      expect(await list({ tag: null, after: asPlantId(4999n), limit: 2 })).toEqual([5000n, 5002n]);
      expect(await store.plants.list({ ...ALL, tag: null, after: asPlantId(4999n), limit: 1 })).toEqual({
        plants: [plants[0]!],
        isLast: false,
      });
      expect(await swap(plants[0], plantOf(5000, "Bare root", "root"))).toBe(true);
      expect(await list({ tag: null, after: asPlantId(4999n), limit: 1 })).toEqual([5002n]);
      expect(await swap(plants[3], plantOf(5003, "Bare"))).toBe(true);
      expect(await list({ tag: null, after: asPlantId(4999n), limit: 2 })).toEqual([5002n, 5003n]);
      await reopen();
      expect(await list({ words, tag: null })).toEqual([5002n, 5003n]);
    });

    it("lists plants with all words or beginnings, as they are stored now, also after reopening", async () => {
      const words = wordsOfSearch("LYR fic");
      expect(await list({ words })).toEqual([-201n, 200n, 201n]);
      expect(await list({ words, tag: "list" })).toEqual([-201n, 200n]);
      expect(await list({ words, after: asPlantId(-201n), limit: 1 })).toEqual([200n]);
      expect(await list({ words: wordsOfSearch("meet"), after: asPlantId(PLANT_ID_MIN) })).toEqual([PLANT_ID_MAX]);
      await swap(listed[3], undefined);
      expect(await list({ words })).toEqual([-201n, 201n]);
      await reopen();
      expect(await list({ words })).toEqual([-201n, 201n]);
    });

    it("finds a plant at once after a create, a new name or a new tag, and not by its old ones, 30 times", async () => {
      for (let id = 6000; id < 6030; id += 1) {
        const [first, second] = [plantOf(id, `Morus w${id}`), plantOf(id, `Ficus w${id}`, `t${id}`)];
        await store.plants.create(first);
        expect(await list({ words: [{ anyOf: [`w${id}`] }, { anyOf: ["morus"] }] })).toEqual([first.id]);
        expect(await swap(first, second)).toBe(true);
        expect(await list({ words: [{ anyOf: [`w${id}`] }] })).toEqual([first.id]);
        expect(await list({ words: [{ anyOf: [`w${id}`] }, { anyOf: ["morus"] }] })).toEqual([]);
        expect(
          await list({ words: [{ anyOf: ["fic"] }, { anyOf: [`w${id}`] }], tag: `t${id}`, after: asPlantId(BigInt(id - 1)), limit: 1 }),
        ).toEqual([first.id]);
        expect(await swap(second, undefined)).toBe(true);
        expect(await list({ words: [{ anyOf: [`w${id}`] }] })).toEqual([]);
      }
    });

    it("counts the plants of each tag, the most frequent first, and says how old the count is", async () => {
      await reopen();
      const asked = performance.now();
      const { tags, ageMs } = await store.plants.countTags();
      const waitedMs = performance.now() - asked;
      const counts = new Map(tags.map(({ tag, plants }) => [tag, plants]));
      expect(counts.get("list")).toBe(3);
      const { plants: all } = await store.plants.list(ALL);
      for (const [tag, plants] of counts) expect(plants).toBe(all.filter((plant) => plant.tag === tag).length);
      expect(counts.size).toBe(new Set(all.flatMap(({ tag }) => (tag === undefined ? [] : [tag]))).size);
      const numbers = tags.map(({ plants }) => plants);
      expect(numbers).toEqual(numbers.toSorted((left, right) => right - left));
      // No one counted before, so the count began after it was asked for.
      expect(ageMs).toBeGreaterThanOrEqual(0);
      expect(ageMs).toBeLessThanOrEqual(waitedMs);
    });

    it("reads each plant once in a snapshot and in all that it holds, whether ids are near each other or far apart", async () => {
      const random = openRandom(seedOf("far apart"));
      // Some dense, some spread, with empty room between them, so that no page tells how far the next one reaches.
      const ids = new Set(Array.from({ length: 2500 }, (_, at) => PLANT_ID_MIN + 10n + BigInt(at)));
      for (let from = PLANT_ID_MIN + 2n ** 40n; ids.size < 7000 && from < PLANT_ID_MAX; from += BigInt(below(random, 2 ** 50)) * 500n) {
        const step = BigInt(10 ** below(random, 12));
        const some = below(random, 2) === 0 ? below(random, 10) : below(random, 900);
        for (let at = 1n; at <= BigInt(some); at += 1n) ids.add((from += step));
      }
      const plants = [...ids].map((id, at) => plantOf(id, "x".repeat(at % 300 === 0 ? 3000 : 3)));
      for (let at = 0; at < plants.length; at += 1000) await importAll(plants.slice(at, at + 1000));
      for (const limit of [97, 1000]) {
        const snapshot = await store.plants.snapshot();
        const read: bigint[] = [];
        for (let page: Page = { plants: [], isLast: false }; !page.isLast;) {
          page = await snapshot.list({ ...ALL, limit, bytesMax: 20_000, after: page.plants.at(-1)?.id });
          read.push(...page.plants.map(({ id }) => id));
        }
        const { plants: last } = await snapshot.list({ ...ALL, limit: 1, descending: true });
        expect(last.map(({ id }) => id as bigint)).toEqual(read.slice(-1));
        snapshot.close();
        expect(read.filter((id) => ids.has(id))).toEqual([...ids]);
      }
      const contents = await store.contents();
      const held = (await Array.fromAsync(contents.read())).flatMap(({ plants: part }) => part.map(({ id }) => id as bigint));
      contents.close();
      expect(held.filter((id) => ids.has(id))).toEqual([...ids]);
      expect(held).toEqual(held.toSorted((left, right) => (left < right ? -1 : 1)));
    });

    const token: Token = { id: "abc", name: "Anna's phone", scopes: ["plants:read", "admin"], created: 5, expires: 9_999_999_999_999 };

    it("finds a token by its hash with all that was stored, also after reopening", async () => {
      await store.tokens.create(token, "hash of abc");
      expect(await store.tokens.find("hash of abc")).toEqual(token);
      await reopen();
      expect(await store.tokens.find("hash of abc")).toEqual(token);
      expect(await store.tokens.find("another hash")).toBeUndefined();
    });

    it("lists tokens by creation time, even revoked ones, and keeps the first revocation", async () => {
      await store.tokens.create({ id: "def", name: "older", scopes: [], created: 1 }, "hash of def");
      expect(await store.tokens.revoke("def", 7, ALONE)).toEqual(["def"]);
      expect(await store.tokens.revoke("def", 8, ALONE)).toEqual([]);
      expect(await store.tokens.revoke("absent", 8, ALONE)).toBeUndefined();
      expect(await Array.fromAsync(allTokens(store.tokens))).toEqual([
        { id: "def", name: "older", scopes: [], created: 1, revoked: 7 },
        token,
      ]);
    });

    it("lists tokens a page at a time, also of one moment, each behind the one before", async () => {
      const made = Array.from({ length: 5 }, (_, at): Token => ({ id: `page${4 - at}`, name: "page", scopes: [], created: 3 + (at >> 1) }));
      for (const one of made) await store.tokens.create(one, `hash of ${one.id}`);
      const all = await Array.fromAsync(allTokens(store.tokens));
      expect(all.filter(({ name }) => name === "page").map(({ id }) => id)).toEqual(["page3", "page4", "page1", "page2", "page0"]);

      const read: (readonly Token[])[] = [];
      for (let after: string | undefined; read.at(-1)?.length !== 0;) {
        read.push((await store.tokens.list({ after, limit: 2 }))!);
        after = read.at(-1)!.at(-1)?.id;
      }
      expect(read.flat()).toEqual(all);
      expect(read.slice(0, 2).map(({ length }) => length)).toEqual([2, 2]);
      expect(await store.tokens.list({ after: "absent", limit: 2 })).toBeUndefined();
    });

    /** A family: a created b and c, b created d. Its ids begin with `name`. */
    async function makeFamily(name: string): Promise<void> {
      for (const [id, parent] of [["a"], ["b", "a"], ["c", "a"], ["d", "b"]] as const) {
        const made: Token = { id: name + id, name, scopes: [], created: 10, ...(parent === undefined ? {} : { parent: name + parent }) };
        expect(await store.tokens.create(made, `hash of ${name}${id}`)).toBe("created");
      }
    }

    const revokedOf = async (name: string) =>
      (await tokensOf(name)).filter(({ revoked }) => revoked !== undefined).map(({ id }) => id.slice(name.length));

    it("revokes a token with all its descendants, or the token alone", async () => {
      await makeFamily("one");
      expect((await store.tokens.revoke("onea", 20, FAMILY))?.toSorted()).toEqual(["onea", "oneb", "onec", "oned"]);
      expect(await revokedOf("one")).toEqual(["a", "b", "c", "d"]);
      await makeFamily("two");
      expect(await store.tokens.revoke("twob", 20, ALONE)).toEqual(["twob"]);
      expect(await revokedOf("two")).toEqual(["b"]);
      expect((await store.tokens.revoke("twoa", 30, FAMILY))?.toSorted()).toEqual(["twoa", "twoc", "twod"]);
      expect((await Array.fromAsync(allTokens(store.tokens))).find(({ id }) => id === "twob")?.revoked).toBe(20);
      expect(await store.tokens.find("hash of twod")).toEqual({
        id: "twod",
        name: "two",
        scopes: [],
        created: 10,
        revoked: 30,
        parent: "twob",
      });
    });

    it("creates no token of a revoked or missing parent, and reports a used id", async () => {
      await makeFamily("three");
      await store.tokens.revoke("threea", 20, ALONE);
      for (const parent of ["threea", "absent"]) {
        const orphan: Token = { id: `of ${parent}`, name: "orphan", scopes: [], created: 30, parent };
        expect(await store.tokens.create(orphan, `hash of ${parent}'s`)).toBe("orphaned");
        const found = await store.tokens.find(`hash of ${parent}'s`);
        expect(found === undefined || found.revoked !== undefined).toBe(true);
      }
      expect(await store.tokens.create({ id: "threeb", name: "other", scopes: [], created: 30 }, "another hash")).toBe("taken");
    });

    it("leaves no valid child of a token that is revoked while it creates one", async () => {
      for (let round = 0; round < 20; round += 1) {
        const name = `race${round} `;
        await makeFamily(name);
        const born = Array.from({ length: 5 }, (_, at) => {
          const child: Token = { id: `${name}child${at}`, name, scopes: [], created: 20, parent: `${name}${at % 2 === 0 ? "a" : "d"}` };
          return store.tokens.create(child, `hash of ${child.id}`);
        });
        await Promise.all([store.tokens.revoke(`${name}a`, 30, FAMILY), ...born]);
        expect((await tokensOf(name)).filter(({ revoked }) => revoked === undefined)).toEqual([]);
      }
    });

    it("records the last use of tokens, never an earlier time, unless a clock was more than a day ahead, also after reopening", async () => {
      await makeFamily("used");
      await store.tokens.touch(
        new Map([
          ["useda", 60_000],
          ["usedb", 120_000],
          ["usedc", 120_000 + DAY_MS],
          ["absent", 60_000],
        ]),
      );
      await store.tokens.touch(
        new Map([
          ["useda", 180_000],
          ["usedb", 60_000],
          ["usedc", 60_000],
        ]),
      );
      await reopen();
      const used = (await tokensOf("used")).map(({ lastUsed }) => lastUsed);
      expect(used).toEqual([180_000, 120_000, 60_000, undefined]);
    });

    it("refuses changes once it is closing, and answers those under way", async () => {
      const begun = Promise.withResolvers<void>();
      const underWay = store.plants.create({ id: asPlantId(14n), name: "under way" }, { whileWriting: begun.resolve });
      await begun.promise;
      const closing = store.close();
      const late = { id: asPlantId(15n), name: "late" };
      expect(await rejectionOf(store.plants.create(late))).toMatchObject({ code: "draining" });
      expect(await rejectionOf(swap(undefined, late))).toMatchObject({ code: "draining" });
      expect(await rejectionOf(importAll([late]))).toMatchObject({ code: "draining" });
      expect(await underWay).toBe("created");
      await closing;
      store = await engineUnderTest.open();
      expect(await find(14)).toMatchObject({ name: "under way" });
      expect(await find(15)).toBeUndefined();
    });
  });
}
