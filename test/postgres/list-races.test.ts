import { expect, it } from "bun:test";
import { Client } from "pg";
import { asPlantId } from "../../src/domain/plant.ts";
import { listOrdered } from "../../src/store/postgres/ordered-lists.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { inPublic } from "../support/postgres/database-server.ts";
import { startTestService } from "../support/service.ts";

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
      const query = { words: ["acer"], tag: undefined, order, after: undefined, limit: 10, bytesMax: 100_000 };
      const { plants } = await listOrdered({ execute: execute as never, onStale: () => {} }, query);
      expect(plants).toEqual([{ id: asPlantId(1n), name }]);
    } finally {
      await client.end();
      await service.stop();
    }
  });
