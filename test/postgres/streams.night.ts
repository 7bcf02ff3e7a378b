import { afterAll, beforeAll, expect, it } from "bun:test";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { startProxy } from "../support/postgres/proxy.ts";
import type { Proxy } from "../support/postgres/proxy.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { openStream } from "../support/stream.ts";
import { until } from "../support/until.ts";

let proxy: Proxy;
let service: TestService;
beforeAll(async () => {
  const server = await sharedCluster();
  proxy = await startProxy({ target: server });
  service = await startTestService({ database: proxy.url(await server.createDatabase()), queueWaitMs: "500" });
});
afterAll(async () => {
  await service.stop();
  await proxy.stop();
});

async function put(id: number): Promise<boolean> {
  return (await service.request(`/plants/${id}`, { method: "PUT", body: '{"name":"Acer"}' })).ok;
}

const open = (query = "") => openStream(service.url, { token: service.token, query });

it("a stream outlives a moment without the database, and misses nothing", async () => {
  const stream = await open();
  for (let id = 1; id < 20; id += 1) {
    if (id % 5 === 0) proxy.cutAll();
    await until("The plant is stored", () => put(id));
  }
  await stream.waitFor(19);
  expect(new Set(stream.changes()).size).toBe(19);
  expect(stream.isWhole()).toBe(false);
  stream.socket.destroy();
});

it("streams end in order when the database is gone, new ones get 503, and all go on from their cursors when it is back", async () => {
  const streams = await Promise.all([open(), open("?tag=x")]);
  expect(await put(101)).toBe(true);
  await streams[0].waitFor(1);
  const { host, port } = await sharedCluster();
  proxy.pointAt({ host: "127.0.0.1", port: 1 });
  proxy.cutAll();
  await Promise.all(streams.map(({ over }) => over));
  expect(streams.map((stream) => stream.isWhole())).toEqual([true, true]);
  const refused = await service.request("/plants/changes", { headers: { accept: "text/event-stream" } });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  proxy.pointAt({ host, port });
  await until("The plant is stored", () => put(102));
  const again = await open(`?after=${streams[0].cursor()}`);
  await again.waitFor(1);
  expect(again.changes()).toEqual(["102 created"]);
  again.socket.destroy();
});
