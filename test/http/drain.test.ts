import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startProcess } from "../support/process.ts";
import { PATIENT } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { beginCreate, openSocket } from "../support/raw-http.ts";
import { until } from "../support/until.ts";

const PLANT = '{"id":1,"name":"under way"}';

/** Whether it takes another connection. */
function accepts(url: string): Promise<boolean> {
  return openSocket(url).then(
    (socket) => socket.destroy().destroyed,
    () => false,
  );
}

it("after SIGTERM the create under way is stored and answered, and the service ends with 0", async () => {
  const data = temporaryFolder();
  const service = await startProcess({ data, flags: PATIENT });
  // Hold the write lock, so that the create is under way when the signal comes.
  const other = new DatabaseSync(join(data, "plants.db"));
  other.exec("BEGIN IMMEDIATE");
  const create = await beginCreate(service.url, await readToken(data));
  const answer = create(PLANT);
  const ended = service.end("SIGTERM");
  await until("It takes no more connections", async () => !(await accepts(service.url)));
  other.exec("ROLLBACK");
  other.close();

  expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/i);
  expect(await ended).toBe(0);
  const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  expect({ ...db.prepare("SELECT name FROM plants WHERE id = 1").get() }).toEqual({ name: "under way" });
  db.close();
});

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

it("a silent open connection does not delay the end", async () => {
  const service = await startProcess({ data: temporaryFolder(), flags: ["--drain-ms", "60000"] });
  const silent = await openSocket(service.url);
  const kept = await fetch(`${service.url}/livez`, { keepalive: true });
  expect(kept.status).toBe(200);
  const clock = startPatientClock();
  expect(await service.end("SIGTERM")).toBe(0);
  expect(clock.ms()).toBeLessThan(30_000);
  silent.destroy();
});
