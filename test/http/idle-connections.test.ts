import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { once } from "node:events";
import { expect, it } from "bun:test";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT, startProcess } from "../support/process.ts";
import { openSocket, statusesIn } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Connections between two requests. How long they are kept: connection.test.ts.

const ASK = "GET /livez HTTP/1.1\r\nHost: plants\r\n\r\n";
const MAX = 4;

/** A connection counts as unused at once, so that a test need not wait for ten seconds. */
const UNUSED_AT_ONCE = [{ file: "src/http/server.ts", from: "const SPARE_MS = 10_000;", to: "const SPARE_MS = 0;" }];

/** Asks on twice as many connections as there may be. The answers, and what the service logs about connections. */
async function crowd(root: string): Promise<{ statuses: number[]; warnings: number }> {
  const service = await startProcess({ data: temporaryFolder(), root, flags: ["--connections-max", String(MAX)] });
  const sockets: Socket[] = [];
  const statuses: number[] = [];
  for (let at = 0; at < 2 * MAX; at += 1) {
    const socket = await openSocket(service.url);
    sockets.push(socket);
    socket.write(ASK);
    const [bytes] = (await once(socket, "data")) as [Buffer];
    statuses.push(...statusesIn(bytes.toString("latin1")));
  }
  for (const socket of sockets) socket.destroy();
  await service.end("SIGTERM");
  return { statuses, warnings: service.lines.filter((line) => line.includes(`"event":"connections_full"`)).length };
}

it("a connection that has not been used for long makes room without a warning", async () => {
  expect(await crowd(plantBugs(UNUSED_AT_ONCE))).toEqual({ statuses: Array.from({ length: 2 * MAX }, () => 200), warnings: 0 });
});

it("a connection that was in use just now makes room with a warning", async () => {
  expect(await crowd(PROJECT)).toEqual({ statuses: Array.from({ length: 2 * MAX }, () => 200), warnings: 1 });
});

/** What the kernel says about the service's side of a connection: 2 for a timer that looks whether the peer is there. */
function timerOf(servicePort: number, socket: Socket): number {
  const [local, peer] = [servicePort, socket.localPort!].map((port) => `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`);
  const line = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .find((text) => text.includes(` ${local} ${peer} `));
  return Number(line?.trim().split(/\s+/)[5]?.split(":")[0]);
}

it("a connection whose peer has vanished is noticed by the system", async () => {
  const service = await startTestService();
  const socket = await openSocket(service.url);
  socket.write(ASK);
  await once(socket, "data");
  expect(timerOf(Number(new URL(service.url).port), socket)).toBe(2);
  socket.destroy();
  await service.stop();
});
