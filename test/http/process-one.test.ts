import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, expect } from "bun:test";
import { spawnProcess, startProcess } from "../support/process.ts";
import { needsThat } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

// In a container the service is process 1, to which the kernel sends no signal that has no handler.

const asRoot = needsThat("root", process.getuid?.() === 0);

const NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child"];

/** A database that accepts connections and never answers: a start waits for it. */
const connections: Socket[] = [];
const silent = createServer((socket) => connections.push(socket));
silent.listen(0, "127.0.0.1");
await once(silent, "listening");
afterAll(() => {
  for (const socket of connections) socket.destroy();
  silent.close();
});

/** The process that `unshare` forked, as this namespace numbers it. */
function innerOf(outer: number): number {
  return Number(readFileSync(`/proc/${outer}/task/${outer}/children`, "utf8"));
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  asRoot.it(`a service that is process 1 ends by ${signal} before it is ready, and does not wait for its database`, async () => {
    const database = `postgres://absent@127.0.0.1:${(silent.address() as AddressInfo).port}/x`;
    const before = connections.length;
    const service = spawnProcess({ data: temporaryFolder(), flags: ["--database", database], under: NAMESPACE });
    await until("the service asks for its database", () => connections.length > before);
    process.kill(innerOf(service.pid), signal);
    // One that gives up its database says so, and ends with another status.
    expect(await service.exited).toBe(0);
  });
}

asRoot.it("a service that is process 1 stops by SIGTERM once it is ready", async () => {
  const service = await startProcess({ data: temporaryFolder(), under: NAMESPACE });
  process.kill(innerOf(service.pid), "SIGTERM");
  expect(await service.exited).toBe(0);
  expect(service.lines.at(-1)).toContain('"event":"stopped"');
});
