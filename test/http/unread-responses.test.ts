import type { Socket } from "node:net";
import { afterAll, describe, expect, it } from "bun:test";
import { createResponseBudget } from "../../src/http/response-budget.ts";
import { ENGINES } from "../support/engines.ts";
import { openSocket } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import { askUntil } from "../support/until.ts";

const LARGE = 60_000;
const PLANTS = 20;
/** So much that the system has no room left for it, and the service keeps as much as it may. */
const SOCKETS = 40;
const AHEAD = 12;
/** Compressed, names of one repeated letter would be small. */
const PLAIN = { "accept-encoding": "identity" };

/** The service closes a connection that reads nothing for ten seconds. */
function readLittle(socket: Socket): void {
  socket.once("data", () => socket.pause());
  socket.resume();
}

for (const { engine, openFlags } of ENGINES) {
  const service = await startTestService(await openFlags());
  afterAll(() => service.stop());

  /** Requests pages, one after the other, and reads none. A connection that is closed is opened again. */
  async function askUnread(sockets: Socket[], at: number): Promise<void> {
    const socket = sockets[at]?.closed === false ? sockets[at] : await openSocket(service.url);
    sockets[at] = socket;
    socket.pause();
    socket.write(`GET /plants?limit=1000 HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer ${service.token}\r\n\r\n`.repeat(AHEAD));
  }

  type Asking = Readonly<{ before?: () => Promise<void>; token?: string }>;

  /** Repeats a request until this is the status, with `before` ahead of each: a slow machine may be too late for one. */
  async function expectStatus(status: number, path: string, { before, token = service.token }: Asking = {}): Promise<Response> {
    async function ask(): Promise<Response> {
      await before?.();
      const response = await service.request(path, { headers: { ...PLAIN, authorization: `Bearer ${token}` } });
      await response.clone().arrayBuffer();
      return response;
    }
    const response = await askUntil(ask, (one) => one.status === status);
    expect(response.status).toBe(status);
    return response;
  }

  describe(`unread pages, on ${engine},`, () => {
    it("count against their token: more of them get 503, small responses and other tokens' pages still work, and all work again once they are gone", async () => {
      const body = Array.from({ length: PLANTS }, (_, id) => `{"id":${id},"name":"${"x".repeat(LARGE)}"}`).join("\n");
      expect((await service.request("/plants/import", { method: "POST", body })).status).toBe(200);
      const made = await service.request("/tokens", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"name":"another","scopes":["plants:read"]}',
      });
      const { token: another } = (await made.json()) as { token: string };

      const sockets: Socket[] = [];
      let turn = 0;
      async function keepUnread(): Promise<void> {
        // While many begin, the token may have too much in memory for a moment: those that are refused then ask again.
        const again = turn++ % SOCKETS;
        const all = Array.from({ length: SOCKETS }, (_, at) => at);
        for (const socket of sockets) readLittle(socket);
        await Promise.all(all.filter((at) => at === again || sockets[at]?.closed !== false).map((at) => askUnread(sockets, at)));
      }
      const refused = await expectStatus(503, "/plants?limit=1000", { before: keepUnread });
      expect(refused.headers.get("retry-after")).toBe("1");
      expect(await refused.json()).toMatchObject({ error: 50300 });
      await expectStatus(200, "/plants/1", { before: keepUnread });
      const page = await expectStatus(200, "/plants?limit=1000", { before: keepUnread, token: another });
      expect(page.headers.get("content-length")).toBe(String((await page.arrayBuffer()).byteLength));
      for (const socket of sockets) socket.destroy();
      await expectStatus(200, "/plants?limit=1000");
      const again = await Promise.all(Array.from({ length: 20 }, () => service.request("/plants?limit=1000", { headers: PLAIN })));
      expect(again.map(({ status }) => status)).toEqual(again.map(() => 200));
      await Promise.all(again.map((response) => response.arrayBuffer()));
    });
  });
}

describe("what responses keep in memory until they are read", () => {
  const answerOf = (body: string | Uint8Array) => ({ status: 200, body, headers: { etag: '"x"' } });

  it("is counted in bytes, per owner, and released once", () => {
    const outgoing = createResponseBudget({ bodyBytesMax: 65_536 });
    const megabyte = answerOf("é".repeat(2 ** 19));
    const kept = Array.from({ length: 32 }, () => outgoing(megabyte, "a"));
    expect(kept[0]).toMatchObject({ status: 200, headers: megabyte.headers });
    expect(Bun.deepEquals(kept[0]!.body, Buffer.from(megabyte.body as string))).toBe(true);
    expect(() => outgoing(megabyte, "a")).toThrow(expect.objectContaining({ code: "overloaded" }));
    for (let times = 0; times < 16; times += 1) outgoing(megabyte, "b");
    expect(() => outgoing(megabyte, "b")).toThrow(expect.objectContaining({ code: "overloaded" }));
    for (const { onSent } of kept) for (const give of [onSent, onSent]) give?.();
    outgoing(answerOf(new Uint8Array(48 * 2 ** 20)), "c");
    expect(() => outgoing(megabyte, "b")).toThrow();
  });

  it("ignores what is small or made while it is read, and always has room for the largest plant", () => {
    const outgoing = createResponseBudget({ bodyBytesMax: 2 ** 28 });
    for (const body of ["x".repeat(65_535), new Uint8Array(65_535), new ReadableStream<Uint8Array>()]) {
      const answer = { status: 200, body };
      expect(outgoing(answer, "a")).toBe(answer);
    }
    expect(outgoing({ status: 204 }, "a")).toEqual({ status: 204 });
    expect(outgoing(answerOf(new Uint8Array(6 * 2 ** 28)), "a").status).toBe(200);
  });
});
