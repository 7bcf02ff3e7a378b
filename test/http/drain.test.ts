import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startProcess } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { openSocket } from "../support/raw-http.ts";

const PLANT = '{"id":1,"name":"under way"}';

it("after SIGTERM the create under way is stored and answered, and the service ends with 0", async () => {
  const data = temporaryFolder();
  const service = await startProcess({ data });
  const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
  // Hold the write lock for a moment, so that the create is under way when the signal comes.
  const other = new DatabaseSync(join(data, "plants.db"));
  other.exec("BEGIN IMMEDIATE");
  const create = fetch(`${service.url}/plants`, { method: "POST", body: PLANT, headers });
  await Bun.sleep(200);
  const ended = service.end("SIGTERM");
  await Bun.sleep(200);
  other.exec("ROLLBACK");
  other.close();

  expect((await create).status).toBe(200);
  expect((await create).headers.get("connection")).toBe("close");
  expect(await ended).toBe(0);
  const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  expect({ ...db.prepare("SELECT name FROM plants WHERE id = 1").get() }).toEqual({ name: "under way" });
  db.close();
});

it("with a drain delay it is alive but not ready, still accepts creates, and then ends with 0", async () => {
  const data = temporaryFolder();
  const service = await startProcess({ data, flags: ["--drain-delay-ms", "600"] });
  const headers = { authorization: `Bearer ${await readToken(data)}`, "content-type": "application/json" };
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const ended = service.end("SIGTERM");
  await Bun.sleep(150);
  const readiness = await fetch(`${service.url}/readyz`);
  expect([readiness.status, readiness.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await readiness.json()).toMatchObject({ error: 50303 });
  expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  expect((await fetch(`${service.url}/plants`, { method: "POST", body: PLANT, headers })).status).toBe(200);
  expect(await ended).toBe(0);
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
