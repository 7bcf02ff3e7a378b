import { describe, expect, it } from "bun:test";
import { Client } from "pg";
import { asPlantId, PLANT_ID_MAX, PLANT_ID_MIN } from "../../src/domain/plant.ts";
import { listOrdered } from "../../src/store/postgres/ordered-lists.ts";
import type { Execute } from "../../src/store/postgres/engine/retry.ts";
import { LIST_PLANTS_UP_TO, LISTS } from "../../src/store/postgres/list-statements.ts";
import { createPageReach, list } from "../../src/store/postgres/plant-lists.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { inPublic } from "../support/postgres/database-server.ts";
import { startTestService } from "../support/service.ts";
import { below, openRandom, seedOf } from "../support/random.ts";

/** More than a page looks at. */
const OTHERS = Array.from({ length: 1000 }, (_, at) => `{"id":${at + 10},"name":"Zelkova"}`).join("\n");

const BIGINT = 20;

for (const [what, order, path, body, name = "Acer"] of [
  ["stays in a page by newest when a thousand others are created", "newest", "/plants/import", OTHERS],
  ["stays in a page by -name when a thousand others are created", "-name", "/plants/import", OTHERS],
  [
    "that is renamed to behind all others stays in a page by name",
    "name",
    "/plants/changes",
    '{"changes":[{"id":1,"from":{"name":"Acer"},"to":{"name":"Zelkova acer"}}]}',
    "Zelkova acer",
  ],
] as const)
  it(`a plant ${what} between two statements`, async () => {
    const database = await (await sharedCluster()).createDatabase();
    const service = await startTestService({ database });
    const client = new Client({
      connectionString: database,
      types: { getTypeParser: (oid: number) => (oid === BIGINT ? BigInt : String) },
    });
    await client.connect();
    try {
      for (const plant of ['{"id":1,"name":"Acer"}', '{"id":2,"name":"Betula"}']) await service.post(plant);
      let isDone = false;
      async function execute({ text }: { text: string }, values: readonly unknown[] = []) {
        const { rows } = await client.query({ text: inPublic(text), values: [...values], rowMode: "array" });
        if (!isDone) {
          isDone = true;
          const headers = { "content-type": path === "/plants/import" ? "application/x-ndjson" : "application/json" };
          expect((await service.request(path, { method: "POST", body, headers })).status).toBe(200);
        }
        return rows;
      }
      const query = { words: [{ anyOf: ["acer"] }], tag: undefined, order, after: undefined, limit: 10, bytesMax: 100_000 };
      const { plants } = await listOrdered({ execute: execute as never, onStale: () => {} }, query);
      expect(plants).toEqual([{ id: asPlantId(1n), name }]);
    } finally {
      await client.end();
      await service.stop();
    }
  });

/** A table that counts how often it is asked up to an id, and how often for a whole page. */
function openTable(ids: readonly bigint[]) {
  const asked = { near: 0, whole: 0 };
  const execute = (async ({ text }: { text: string }, [from, limit, , end = PLANT_ID_MAX]: readonly bigint[]) => {
    if (text === LIST_PLANTS_UP_TO.brief.text) asked.near += 1;
    else if (text === LISTS.ascending.plants.any.brief.text) asked.whole += 1;
    else throw new Error(`An unknown statement: ${text}`);
    const found = ids.filter((id) => id >= from! && id <= end);
    return found.slice(0, Number(limit)).map((id) => [id, "x", null]);
  }) as unknown as Execute;
  return { asked, execute };
}

const random = openRandom(seedOf("page reach"));
const SPREAD = Array.from({ length: 4000 }, () => PLANT_ID_MIN + BigInt(below(random, 2 ** 50)) * 2n ** 13n + BigInt(below(random, 8192)));
const LAYOUTS = {
  "numbered from one": Array.from({ length: 4000 }, (_, at) => BigInt(at + 1)),
  "at random": SPREAD.toSorted((a, b) => (a < b ? -1 : 1)),
};

describe("a list on several shards", () => {
  for (const [what, ids] of Object.entries(LAYOUTS)) {
    it(`asks for a whole page only where it begins or ends, if ids are ${what}, also when others read first pages meanwhile`, async () => {
      const { asked, execute } = openTable(ids);
      const reach = createPageReach();
      const read: bigint[] = [];
      const query = { limit: 100, bytesMax: 2 ** 20, tag: undefined, words: [] };
      for (let after: bigint | undefined, isLast = false; !isLast;) {
        const page = await list(execute, { ...query, after: after === undefined ? undefined : asPlantId(after) }, reach);
        read.push(...page.plants.map(({ id }) => id));
        ({ isLast } = page);
        after = read.at(-1);
        await list(execute, { ...query, limit: 50, after: undefined }, reach);
      }
      expect(read).toEqual([...ids]);
      expect(asked.near).toBeLessThanOrEqual(80);
      expect(asked.whole).toBeLessThanOrEqual(6);
    });
  }
});
