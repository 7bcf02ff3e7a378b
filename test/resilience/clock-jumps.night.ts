import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startPatientClock } from "../support/patient-clock.ts";
import { needs } from "../support/program.ts";
import { readToken } from "../support/service.ts";
import { openClock } from "../support/clock.ts";
import { startFlood } from "../support/flood.ts";
import { inForm, tell } from "../support/run-form.ts";
import { until } from "../support/until.ts";
import { killServices, PATIENT, startService } from "../support/service-process.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";

const { it } = needs("faketime");

afterEach(killServices);

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
/** The offsets of the clock, in days from the true time, one jump after the other. */
const JUMPS = Array.from({ length: inForm(1, 50) }, () => [1, 0, -1, 1, -1, 0]).flat();
const BETWEEN_MS = 300;

type NewToken = Readonly<{ id: string; token: string; created: string }>;

/** A service with a clock that can be set. */
async function openGarden(flags: readonly string[] = []) {
  const data = temporaryFolder();
  const clock = openClock();
  const service = await startService({ data, flags, environment: clock.environment });
  const first = await readToken(data);

  function request(path: string, init: RequestInit = {}, token = first): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return fetch(`${service.url}${path}`, { ...init, headers });
  }
  function create(id: number): Promise<Response> {
    return request("/plants", { method: "POST", body: `{"id":${id},"name":"plant"}` });
  }
  async function createToken(days?: number): Promise<NewToken> {
    const response = await request("/tokens", { method: "POST", body: JSON.stringify({ name: "clock", scopes: ["plants:read"], days }) });
    return (await response.json()) as NewToken;
  }
  async function statusWith({ token }: NewToken): Promise<number> {
    return (await request("/plants", {}, token)).status;
  }
  return { data, clock, service, first, request, create, createToken, statusWith };
}

async function isSoon(isSo: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const clock = startPatientClock();
  while (!(await isSo())) {
    if (clock.ms() > withinMs) return false;
    await Bun.sleep(20);
  }
  return true;
}

it(`${JUMPS.length} jumps of the clock, by a day or two forwards and back, leave each create answered 200, lose nothing, and log nothing unusual`, async () => {
  const { data, clock, service, first, createToken } = await openGarden(PATIENT);
  const flood = startFlood({ url: service.url, token: first, firstId: 1n });
  for (const days of JUMPS) {
    clock.setDaysOff(days);
    const answered = flood.count();
    await Bun.sleep(BETWEEN_MS);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    // The service really has another time.
    expect(Math.abs(Date.parse((await createToken()).created) - Date.now() - days * DAY_MS)).toBeLessThan(HOUR_MS);
    await until("Creates go on", () => flood.count() > answered + 50);
  }
  const journal = await flood.stop();
  expect(journal.others).toEqual([]);
  expect(journal.answered).toHaveLength(journal.attempted.length);
  const events = service.lines.map((line) => (JSON.parse(line) as { event: string }).event).filter((event) => event !== "data_at_risk");
  expect(events).toEqual(["store_made", "settings", "started", ...JUMPS.map(() => "token_created")]);
  expect(await service.end("SIGTERM")).toBe(0);
  expect(judgeFolder(data, journal)).toEqual(SOUND);
  tell("clock", `${JUMPS.length} jumps of a day or two, ${journal.answered.length} creates, each answered 200, 0 lost`);
});

it("a token that expires in an hour is refused when the clock jumps a day forwards, and accepted when it jumps back", async () => {
  const { clock, createToken, statusWith } = await openGarden();
  const token = await createToken(1 / 24);
  const statuses: number[] = [];
  for (const days of [0, 1, 0, -1]) {
    clock.setDaysOff(days);
    statuses.push(await statusWith(token));
  }
  expect(statuses).toEqual([200, 401, 200, 200]);
});

it("a token that is revoked after the clock went a day back is refused, although it was accepted at a later time", async () => {
  const { clock, createToken, statusWith, request } = await openGarden();
  const token = await createToken();
  expect(await statusWith(token)).toBe(200);
  clock.setDaysOff(-1);
  expect((await request(`/tokens/${token.id}`, { method: "DELETE" })).status).toBe(204);
  expect(await isSoon(async () => (await statusWith(token)) === 401, 3000)).toBe(true);
});

/** Another process that holds the write lock acts like the slowest possible disk. */
function lock(data: string): () => void {
  const other = new DatabaseSync(join(data, "plants.db"));
  other.exec("BEGIN IMMEDIATE");
  return () => other.close();
}

it("a create that waits for the disk while the clock jumps a day forwards is not refused", async () => {
  /** Longer than the interval at which the service looks for creates that have waited too long, and shorter than one may. */
  const WAIT_MS = 400;
  const WAIT_MS_MAX = 900;
  const { data, clock, create } = await openGarden();
  const statuses: number[] = [];
  for (let id = 1; statuses.length < 2 && id < 20; id += 1) {
    clock.setDaysOff(0);
    const unlock = lock(data);
    const began = performance.now();
    const response = create(id);
    await Bun.sleep(WAIT_MS / 4);
    clock.setDaysOff(1);
    await Bun.sleep(WAIT_MS);
    unlock();
    const { status } = await response;
    // Otherwise the machine was slow, and it may have waited for longer than the limit.
    if (performance.now() - began < WAIT_MS_MAX) statuses.push(status);
  }
  expect(statuses).toEqual([200, 200]);
});

it("a service that is unready, because the disk refuses to write, while the clock jumps a day back tries again and is ready", async () => {
  const { data, clock, create, service } = await openGarden();
  const isReady = async () => (await fetch(`${service.url}/readyz`)).status === 200;
  const unlock = lock(data);
  expect((await create(1)).status).toBe(503);
  // The create times out before the disk does.
  expect(await isSoon(async () => !(await isReady()), 4000)).toBe(true);
  clock.setDaysOff(-1);
  unlock();
  expect(await isSoon(isReady, 4000)).toBe(true);
});
