import { expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
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

it("after a drain delay, and not before, it ends with 0", async () => {
  const service = await startProcess({ data: temporaryFolder(), flags: ["--drain-delay-ms", "600"] });
  expect(await service.end("SIGTERM")).toBe(0);
  const [stopping = 0, stopped = 0] = service.lines.slice(-2).map((line) => Date.parse((JSON.parse(line) as { time: string }).time));
  expect(stopped - stopping).toBeGreaterThanOrEqual(599);
});
