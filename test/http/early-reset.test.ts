import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, expect, it } from "bun:test";
import { startProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const CLIENTS = 300;

const service = await startProcess({ data: temporaryFolder() });
afterAll(async () => void (await service.end("SIGTERM")));

it("a client that resets its connection at once is dropped: it has no address any more, and causes no error", async () => {
  const { hostname, port } = new URL(service.url);
  for (let count = 0; count < CLIENTS; count += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write("GET /plants HTTP/1.1\r\nHost: localhost\r\n\r\n");
    socket.resetAndDestroy();
  }
  expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  expect(service.lines.filter((line) => line.includes("unexpected_error"))).toEqual([]);
});
