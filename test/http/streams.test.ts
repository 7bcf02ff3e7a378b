import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "bun:test";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { closeOf } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { openStream } from "../support/stream.ts";
import { askUntil, until } from "../support/until.ts";

/** A revocation takes effect within a second. The rest is for a busy machine. */
const BITES_MS_MAX = 1500;

/** A bookmark comes each 15 s. */
const BOOKMARK_MS_MAX = 16_500;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ connectionsMax: "320", metrics: "127.0.0.1:0" });
});
afterAll(() => service.stop());

async function makeToken(days?: number): Promise<Schemas["CreatedToken"]> {
  const body = JSON.stringify({ name: "follower", scopes: ["plants:read"], days });
  return (await service.request("/tokens", { method: "POST", body })).json() as Promise<Schemas["CreatedToken"]>;
}

async function put(id: number, tag?: string): Promise<void> {
  const body = JSON.stringify({ name: String(Math.random()), tag });
  expect((await service.request(`/plants/${id}`, { method: "PUT", body })).ok).toBe(true);
}

async function metric(name: string): Promise<number> {
  const lines = (await (await fetch(service.metricsUrl!)).text()).split("\n");
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? 0);
}

const listeners = () => metric("plant_store_changes_listeners");
const expectListeners = async (count: number) => expect(await askUntil(listeners, (some) => some === count)).toBe(count);

const sockets: Socket[] = [];
async function open(options: Partial<Parameters<typeof openStream>[1]> = {}): ReturnType<typeof openStream> {
  const stream = await openStream(service.url, { token: service.token, ...options });
  sockets.push(stream.socket);
  return stream;
}
// The next test counts listeners, and would wait for those of one that failed.
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

describe("a stream of changes", () => {
  it("hears a bookmark within 15 seconds where its filter shows nothing, which moves the cursor on", async () => {
    const quiet = await open({ query: "?tag=nothing" });
    const first = quiet.cursor();
    await put(1);
    const began = performance.now();
    await until("A bookmark comes", () => quiet.cursor() !== first);
    expect(performance.now() - began).toBeLessThan(BOOKMARK_MS_MAX);
    expect(quiet.changes()).toEqual([]);
    const response = await service.request(`/plants/changes?after=${quiet.cursor()}`);
    expect(await response.json()).toEqual([]);
  });

  it("works over HTTP/1.0, without chunks, and the end of its connection is its end", async () => {
    const { id, token } = await makeToken();
    const old = await open({ token, version: "1.0", fields: ["Connection: keep-alive"] });
    expect(old.head()).not.toMatch(/transfer-encoding|content-length|keep-alive/);
    expect(old.head()).toContain("\r\nconnection: close");
    await put(2);
    await old.waitFor(1);
    expect(old.text()).toMatch(/^retry: 1000\nid: [\w-]+\n\nid: [\w-]+\ndata: \{.*\}\n\n$/);
    await service.request(`/tokens/${id}`, { method: "DELETE" });
    await closeOf(old.socket);
  });

  it("ends in order within a second when its token is revoked or expires, and those of others go on", async () => {
    const [revoked, expiring] = await Promise.all([makeToken(), makeToken(3 / 86_400)]);
    const { token } = revoked;
    const streams = await Promise.all([open({ token }), open({ token, query: "?tag=x" }), open({ token: expiring.token }), open()]);
    await put(3, "x");
    await Promise.all(streams.map((stream) => stream.waitFor(1)));
    expect((await service.request(`/tokens/${revoked.id}`, { method: "DELETE" })).status).toBe(204);
    const since = performance.now();
    await Promise.all(streams.slice(0, 2).map(({ over }) => over));
    expect(performance.now() - since).toBeLessThan(BITES_MS_MAX);
    await streams[2].over;
    expect(Date.now() - Date.parse(expiring.expires!)).toBeLessThan(BITES_MS_MAX);
    await put(3, "y");
    await streams[3].waitFor(2);
    expect(streams.map((stream) => [stream.isWhole(), stream.changes().length])).toEqual([
      [true, 1],
      [true, 1],
      [true, 1],
      [false, 2],
    ]);
    // The connection that it ended on still works, and says why.
    streams[0].socket.write(`GET /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`);
    await closeOf(streams[0].socket);
    expect(streams[0].text().length).toBeGreaterThan(0);
    streams[3].socket.destroy();
    await expectListeners(0);
  });

  it("is no longer counted as soon as its reader is gone, though nothing changes", async () => {
    const streams = await Promise.all([open(), open(), open()]);
    await expectListeners(3);
    const since = performance.now();
    streams[0].socket.destroy();
    streams[1].socket.resetAndDestroy();
    streams[2].socket.end();
    // One that only sends no more may still read.
    await expectListeners(1);
    // The next bookmark would show it too.
    expect(performance.now() - since).toBeLessThan(BOOKMARK_MS_MAX / 2);
    await put(4);
    await streams[2].waitFor(1);
    streams[2].socket.destroy();
    // What it reads no more it refuses.
    await until("It is noticed", async () => {
      await put(4);
      return (await listeners()) === 0;
    });
  });

  it("is answered by its head alone to HEAD, and none is left", async () => {
    for (let times = 0; times < 40; times += 1) {
      const response = await service.request("/plants/changes", { method: "HEAD", headers: { accept: "text/event-stream" } });
      expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([200, "text/event-stream", ""]);
    }
    await expectListeners(0);
  });

  it("is one of 32 of its token, and of an eighth of the connections; others get 503, and room again when one leaves", async () => {
    const { token } = await makeToken();
    const streams = await Promise.all(Array.from({ length: 32 }, () => open({ token })));
    for (const accept of ["text/event-stream", "text/event-stream;q=0.9, */*;q=0.1"]) {
      const refused = await service.request("/plants/changes", { headers: { accept, authorization: `Bearer ${token}` } });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await refused.json()).toMatchObject({ error: 50300 });
    }
    // Pages still work, and the other eight streams are free for others.
    expect((await service.request("/plants/changes", { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    const others = await Promise.all(Array.from({ length: 8 }, () => open()));
    expect((await service.request("/plants/changes", { headers: { accept: "text/event-stream" } })).status).toBe(503);
    streams[0]!.socket.destroy();
    await until("There is room again", async () => (await listeners()) === 39);
    const again = await open();
    expect(again.head()).toContain(" 200 ");
    for (const { socket } of [...streams, ...others, again]) socket.destroy();
    await expectListeners(0);
  });

  it("is counted as one request, whose duration ends with its head", async () => {
    const name = 'plant_store_http_request_duration_seconds_sum{operation="listChanges",status="200"}';
    const count = name.replace("_sum", "_count");
    const before = [await metric(name), await metric(count)];
    const stream = await open();
    await Bun.sleep(2000);
    stream.socket.destroy();
    await expectListeners(0);
    expect((await metric(count)) - before[1]!).toBe(1);
    expect((await metric(name)) - before[0]!).toBeLessThan(1);
  });
});
