import { expect, it } from "bun:test";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { queryOnce } from "../support/postgres/database-server.ts";
import { startTestService } from "../support/service.ts";

it("the index of words keeps those of names that are no more, until REINDEX makes it as small as new, beside the service", async () => {
  const database = await (await sharedCluster()).createDatabase();
  const service = await startTestService({ database });
  async function nameAll(round: number): Promise<void> {
    const body = Array.from({ length: 1000 }, (_, at) => `{"id":${at},"name":"Acer ${round}x${at}"}\n`).join("");
    const headers = { "content-type": "application/x-ndjson" };
    expect((await service.request("/plants/import?onConflict=replace", { method: "POST", body, headers })).status).toBe(200);
  }
  async function indexBytes(): Promise<number> {
    await queryOnce(database, "VACUUM plants");
    return Number((await queryOnce(database, "SELECT pg_relation_size('plants_by_word') AS bytes"))[0]!["bytes"]);
  }
  await nameAll(0);
  const young = await indexBytes();
  for (let round = 1; round < 12; round += 1) await nameAll(round);
  expect(await indexBytes()).toBeGreaterThan(3 * young);

  let isDone = false;
  const statuses = new Set<number>();
  async function work(): Promise<void> {
    while (!isDone) {
      statuses.add((await service.request("/plants?q=acer&limit=1")).status);
      statuses.add((await service.post('{"id":1,"name":"Acer 11x1"}')).status);
    }
  }
  const working = work();
  await queryOnce(database, "REINDEX TABLE CONCURRENTLY plants");
  isDone = true;
  await working;
  expect([...statuses]).toEqual([200]);
  expect(await indexBytes()).toBeLessThan(2 * young);
  await service.stop();
});
