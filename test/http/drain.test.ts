import { expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { openStream } from "../support/stream.ts";
import { until } from "../support/until.ts";

const PLANT = '{"id":1,"name":"under way"}';

it("during a drain delay it is alive but not ready, and still accepts creates", async () => {
  const data = temporaryFolder();
  // Longer than this test takes: it ends nothing.
  const service = await startProcess({ data, flags: [...PATIENT, "--drain-delay-ms", "60000"] });
  const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  void service.end("SIGTERM");
  await until("It stops", () => service.lines.some((line) => line.includes('"stopping"')));
  const readiness = await fetch(`${service.url}/readyz`);
  expect([readiness.status, readiness.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await readiness.json()).toMatchObject({ error: 50303 });
  expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  expect((await fetch(`${service.url}/plants`, { method: "POST", body: PLANT, headers })).status).toBe(200);
  await service.end("SIGKILL");
});

it("each stream of changes ends in order when a drain delay begins, is told when to come back, not all at once, and none begins", async () => {
  const data = temporaryFolder();
  const service = await startProcess({ data, flags: [...PATIENT, "--drain-delay-ms", "60000"] });
  const token = await readToken(data);
  const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(service.url, { token })));
  void service.end("SIGTERM");
  await Promise.all(streams.map(({ over }) => over));
  const waits = streams.map((stream) => (stream.isWhole() ? stream.events().at(-1)?.retry : undefined));
  for (const wait of waits) expect(wait).toBeWithin(1000, 5001);
  expect(new Set(waits).size).toBeGreaterThan(10);
  const refused = await fetch(`${service.url}/plants/changes`, {
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
  });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await refused.json()).toMatchObject({ error: 50303 });
  await service.end("SIGKILL");
});

it("a stop does not wait for a stream of changes that no one reads", async () => {
  const data = temporaryFolder();
  // Longer than this test may take.
  const service = await startProcess({ data, flags: [...PATIENT, "--drain-ms", "60000", "--body-bytes-max", "1000000"] });
  const token = await readToken(data);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const { socket } = await openStream(service.url, { token });
  socket.pause();
  for (let id = 1; id < 40; id += 1)
    expect(
      (await fetch(`${service.url}/plants`, { method: "POST", headers, body: JSON.stringify({ id, name: "x".repeat(500_000) }) })).ok,
    ).toBe(true);
  expect(await service.end("SIGTERM")).toBe(0);
  socket.destroy();
});

it("after a drain delay, and not before, it ends with 0", async () => {
  const service = await startProcess({ data: temporaryFolder(), flags: ["--drain-delay-ms", "600"] });
  expect(await service.end("SIGTERM")).toBe(0);
  const [stopping = 0, stopped = 0] = service.lines.slice(-2).map((line) => Date.parse((JSON.parse(line) as { time: string }).time));
  expect(stopped - stopping).toBeGreaterThanOrEqual(599);
});
