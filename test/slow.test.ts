import { connect } from "node:net";
import type { Socket } from "node:net";
import { once } from "node:events";
import { afterAll, describe, expect, it } from "bun:test";
import { whileMoving } from "../src/exchange/row.ts";
import { rejectionOf } from "./rejection.ts";
import { startTestService } from "./service.ts";

const service = await startTestService();
afterAll(() => service.stop());

/** Longer than a connection may be silent otherwise. */
const SLOW_MS = 14_000;

describe("a slow client", () => {
  it.concurrent("imports a line now and then, for longer than a connection may be silent", async () => {
    const encoder = new TextEncoder();
    const start = performance.now();
    let id = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(1000);
        if (performance.now() - start > SLOW_MS) return controller.close();
        controller.enqueue(encoder.encode(`{"id":${(id += 1)},"name":"slow"}\n`));
      },
    });
    const response = await service.request("/plants/import", { method: "POST", body, headers: { "content-type": "application/x-ndjson" } });
    expect(await response.json()).toMatchObject({ read: id, created: id, refused: 0 });
    expect(id).toBeGreaterThan(10);
  }, 30_000);

  it.concurrent("gets a whole export although it pauses for longer than a connection may be silent", async () => {
    const lines = Array.from({ length: 400 }, (_, at) => `{"id":${1000 + at},"name":"${"x".repeat(50_000)}"}\n`).join("");
    await service.request("/plants/import", { method: "POST", body: lines, headers: { "content-type": "application/x-ndjson" } });
    const socket = await beginExport();
    await Bun.sleep(SLOW_MS);
    let size = 0;
    let end = "";
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      size += chunk.length;
      end = (end + chunk.toString("latin1")).slice(-5);
    }
    expect(size).toBeGreaterThan(lines.length);
    expect(end).toBe("0\r\n\r\n");
  }, 40_000);

  it("that sends nothing is given up, and its body let go of", async () => {
    let isReleased = false;
    const source: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        async return() {
          isReleased = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const reading = whileMoving(source, 50).next();
    expect(await rejectionOf(reading)).toMatchObject({ code: "incomplete_body" });
    expect(isReleased).toBe(true);
  });

  it("shares the exports with others: sixteen run at a time, one more is answered 503 until one ends", async () => {
    const sockets = await Promise.all(Array.from({ length: 16 }, beginExport));
    const refused = await service.request("/plants/export");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    for (const socket of sockets) socket.destroy();
    const until = performance.now() + 5000;
    let status = 503;
    while (status === 503 && performance.now() < until) {
      const response = await service.request("/plants/export");
      status = response.status;
      await response.body?.cancel();
    }
    expect(status).toBe(200);
  }, 20_000);
});

/** An export of which nothing is read. */
async function beginExport(): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /plants/export HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${service.token}\r\n\r\n`);
  await once(socket, "readable");
  return socket;
}
