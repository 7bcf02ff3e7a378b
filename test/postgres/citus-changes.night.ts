import { expect, it } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import type { LogCursor } from "../../src/store/history.ts";
import { readOn } from "../support/history-pages.ts";
import { plantOf } from "../support/plant.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { openStore } from "../support/postgres/store.ts";
import { needsThat } from "../support/program.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** As in citus.night.ts. */
const CITUS = process.env["PLANT_STORE_TEST_CITUS"] ?? "";
const { describe } = needsThat("PLANT_STORE_TEST_CITUS", CITUS !== "");

const distribute = () => queryOnce(CITUS, "SELECT create_distributed_table('plants', 'id', shard_count := 8)");
const undistribute = () => queryOnce(CITUS, "BEGIN; LOCK TABLE plants IN EXCLUSIVE MODE; SELECT undistribute_table('plants'); COMMIT");
const dropTables = () => queryOnce(CITUS, "DROP TABLE IF EXISTS plants, tokens, plant_store_schema, plant_changes");

const GONE = { code: "changes_gone" };
const isUnsupported = (reason: unknown) => reason instanceof PlantStoreError && reason.code === "changes_unsupported";

describe("the changes of a store on Citus", () => {
  it("get 501 with the reason, also for who has followed them, while imports and exports work without", async () => {
    await dropTables();
    const { url, token, request, post, stop } = await startTestService({ database: CITUS });
    const heard: bigint[] = [];
    const following = (async () => {
      const { changes } = createClient({ url, token });
      for await (const { change } of changes({ after: "now" })) if (change) heard.push(change.id);
    })();
    const ended = rejectionOf(following);
    let made = 0;
    await until("it follows", async () => (await post(`{"id":${(made += 1)},"name":"Acer"}`)).ok && heard.length > 0);
    await distribute();
    expect(await ended).toMatchObject({ status: 501, error: 50102, message: expect.stringContaining("Citus") });
    const ndjson = {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: '{"id":1,"name":"Abies"}\n{"id":-1,"name":"Rosa"}\n',
    };
    const response = await request("/plants/import?onConflict=replace", ndjson);
    const imported = (await response.json()) as { import: string };
    expect(imported).toMatchObject({ created: 1, replaced: 1 });
    for (const path of ["/plants/changes", "/plants/1/changes", "/plants/deleted", "/imports", `/imports/${imported.import}/changes`]) {
      const refused = await request(path);
      expect([path, refused.status, await refused.json()]).toMatchObject([path, 501, { error: 50102 }]);
    }
    const exported = await request("/plants/export");
    expect([exported.status, exported.headers.get("x-changes-cursor")]).toEqual([200, null]);
    expect((await exported.text()).trim().split("\n")).toHaveLength(made + 1);
    await stop();
  });

  it("begin again when the plants come back, and miss nothing of a replica that has not seen that", async () => {
    await dropTables();
    const [reader, writer] = [await openStore(CITUS), await openStore(CITUS)];
    const newest = () =>
      reader.history.newest().catch((reason: unknown) => {
        if (!isUnsupported(reason)) throw reason;
        return undefined;
      });
    let compared = 0;
    for (let round = 0; round < 4; round += 1) {
      const before = await reader.history.newest();
      await distribute();
      for (const store of [reader, writer])
        await until("it knows of Citus", async () => isUnsupported(await store.history.newest().catch((reason: unknown) => reason)));
      const later: bigint[] = [];
      let cursor: LogCursor | undefined;
      let isOver = false;
      const writing = (async () => {
        for (let id = BigInt(round * 1_000_000); !isOver; id += 1n) {
          const isBehind = cursor !== undefined;
          await writer.plants.create(plantOf(id));
          if (isBehind) later.push(id);
        }
      })();
      await undistribute();
      await until("the changes are read again", async () => (cursor = await newest()) !== undefined);
      await until("the writer knows too", async () => !isUnsupported(await writer.history.newest().catch((reason: unknown) => reason)));
      await until("some are made", () => later.length > 10);
      isOver = true;
      await writing;
      expect(await rejectionOf(readOn(reader, { after: before }))).toMatchObject(GONE);
      try {
        const read = new Set<bigint>((await readOn(reader, { after: cursor! })).changes.map(({ id }) => id));
        expect(later.filter((id) => !read.has(id))).toEqual([]);
        compared += 1;
      } catch (reason) {
        // The writer may have deleted what was logged, as long as it did not know. Then its place is gone too.
        expect(reason).toMatchObject(GONE);
      }
    }
    // Not one may pass because each place was gone.
    expect(compared).toBeGreaterThan(0);
    await Promise.all([reader.close(), writer.close()]);
  });
});
