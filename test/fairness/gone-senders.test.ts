import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { closeOf, openSocket, receiveAll, toRequest } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** A few hundred bytes of gzip, which take a hundred turns of the event loop at least. */
const LINES = 100_000;
const PACKED = gzipSync("a\n".repeat(LINES));

/** Turns in which the import begins and is not done. */
const TURNS = 30;

let service: TestService;
beforeAll(async () => (service = await startTestService()));
afterAll(() => service.stop());

/** Sends the file, but the last `missing` of the bytes that it declares. */
async function send(missing: number): Promise<Socket> {
  const socket = await openSocket(service.url);
  const fields = ["Content-Encoding: gzip", `Content-Length: ${PACKED.length + missing}`];
  socket.write(Buffer.concat([Buffer.from(toRequest("POST /plants/import", { token: service.token, fields })), PACKED]));
  return socket;
}

function imports(): ReadonlyArray<{ outcome: string; read?: number }> {
  return service.logged.filter((line) => line.includes('"import_ended"')).map((line) => JSON.parse(line) as never);
}

describe("the service drops what is left of an import whose sender", () => {
  for (const { why, missing, leave } of [
    { why: "resets its connection", missing: 0, leave: (socket: Socket) => socket.resetAndDestroy() },
    { why: "closes it after the whole file", missing: 0, leave: (socket: Socket) => socket.destroy() },
    { why: "closes it before the end of the file", missing: 1, leave: (socket: Socket) => socket.destroy() },
  ]) {
    it(why, async () => {
      const before = imports().length;
      const socket = await send(missing);
      for (let turn = 0; turn < TURNS; turn += 1) await new Promise(setImmediate);
      leave(socket);
      await closeOf(socket);
      await until("The import has ended", () => imports().length > before);
      const { outcome, read = 0 } = imports().at(-1)!;
      expect(outcome).toBe("incomplete_body");
      expect(read).toBeLessThan(LINES / 2);
    });
  }
});

it("a sender that closes only its side gets the summary of the whole file", async () => {
  const socket = await send(0);
  socket.end();
  expect(await receiveAll(socket)).toContain(`"read":${LINES}`);
});
