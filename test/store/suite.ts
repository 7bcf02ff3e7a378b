import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { asPlantId } from "../../src/plant.ts";
import type { Store, Token } from "../../src/store/store.ts";
import { rejectionOf } from "../rejection.ts";

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

    for (const id of [0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)].map(asPlantId)) {
      it(`finds plant ${id} exactly as created, also when opened again`, async () => {
        const plant = { id, name: `plant \0 ${id} 🌿`, tag: "" };
        expect(await store.plants.create(plant)).toBe("created");
        expect(await store.plants.find(id)).toEqual(plant);
        await reopen();
        expect(await store.plants.find(id)).toEqual(plant);
      });
    }

    it("tells a plant without a tag from one with an empty tag", async () => {
      const id = asPlantId(10n);
      expect(await store.plants.create({ id, name: "x" })).toBe("created");
      expect(await rejectionOf(store.plants.create({ id, name: "x", tag: "" }))).toMatchObject({ code: "id_in_use" });
      expect(await store.plants.find(id)).toEqual({ id, name: "x" });
    });

    it("answers both of two equal creates in one batch, and stores one plant", async () => {
      const plant = { id: asPlantId(11n), name: "twin" };
      expect((await Promise.all([store.plants.create(plant), store.plants.create(plant)])).toSorted()).toEqual(["created", "same"]);
      expect(await store.plants.create(plant)).toBe("same");
    });

    it("refuses the second of two different plants with one id in one batch, and creates the rest of it", async () => {
      const creates = [12n, 12n, 13n].map((id, at) => store.plants.create({ id: asPlantId(id), name: `plant ${at}` }));
      const outcomes = await Promise.allSettled(creates);
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await store.plants.find(asPlantId(12n))).toMatchObject({ name: "plant 0" });
      expect(await store.plants.find(asPlantId(13n))).toMatchObject({ name: "plant 2" });
    });

    it("finds nothing under an id never used", async () => {
      expect(await store.plants.find(asPlantId(99n))).toBeUndefined();
    });

    const token: Token = { id: "abc", name: "Anna's phone", scopes: ["plants:read", "admin"], created: 5, expires: 9_999_999_999_999 };

    it("finds a token by its hash with all that was stored, also when opened again", async () => {
      await store.tokens.create(token, "hash of abc");
      expect(await store.tokens.find("hash of abc")).toEqual(token);
      await reopen();
      expect(await store.tokens.find("hash of abc")).toEqual(token);
      expect(await store.tokens.find("another hash")).toBeUndefined();
    });

    it("lists tokens by the time of their creation, the revoked ones too, and keeps the first revocation", async () => {
      await store.tokens.create({ id: "def", name: "older", scopes: [], created: 1 }, "hash of def");
      expect(await store.tokens.revoke("def", 7)).toBe(true);
      expect(await store.tokens.revoke("def", 8)).toBe(true);
      expect(await store.tokens.revoke("nobody", 8)).toBe(false);
      expect(await store.tokens.list()).toEqual([{ id: "def", name: "older", scopes: [], created: 1, revoked: 7 }, token]);
    });

    it("refuses creates once it is closing, and answers those under way", async () => {
      const underWay = store.plants.create({ id: asPlantId(14n), name: "under way" });
      // Two turns, so that the first is part of a running commit.
      await new Promise((resolve) => setTimeout(resolve, 5));
      const closing = store.close();
      expect(await rejectionOf(store.plants.create({ id: asPlantId(15n), name: "late" }))).toMatchObject({ code: "draining" });
      expect(await underWay).toBe("created");
      await closing;
      store = await engineUnderTest.open();
      expect(await store.plants.find(asPlantId(14n))).toMatchObject({ name: "under way" });
      expect(await store.plants.find(asPlantId(15n))).toBeUndefined();
    });
  });
}
