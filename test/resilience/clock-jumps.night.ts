import { afterEach, expect } from "bun:test";
import { isWithin } from "../support/patient-clock.ts";
import { needs } from "../support/program.ts";
import { startFlood } from "../support/flood.ts";
import { inForm, tell } from "../support/run-form.ts";
import { until } from "../support/until.ts";
import { askAs, killServices, PATIENT, startService } from "../support/service-process.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";
import { lockWrites } from "../support/write-lock.ts";
import { globSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * The system clock of a process that is not started yet. Its monotonic clock, which timers use, is not changed. The
 * library libfaketime reads a file at each reading of the clock.
 */
function openClock() {
  const path = join(temporaryFolder(), "clock");
  /** Sets the clock this many days from the true time, forwards or back. */
  function setDaysOff(days: number): void {
    // In one step, because the process may read it at any moment.
    writeFileSync(`${path}.next`, `${days < 0 ? "" : "+"}${days}d\n`);
    renameSync(`${path}.next`, path);
  }
  setDaysOff(0);
  return {
    environment: {
      LD_PRELOAD: findLibrary(),
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    setDaysOff,
  };
}

function findLibrary(): string {
  const [path] = globSync("/usr/lib/*/faketime/libfaketime.so.1");
  if (path === undefined) throw new Error("This test needs libfaketime: apt-get install faketime");
  return path;
}

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
  const clock = openClock();
  const service = await startService({ flags, environment: clock.environment });
  return {
    ...service,
    clock,
    create: (id: number) => service.ask("POST", "/plants", `{"id":${id},"name":"plant"}`),
    async createToken(days?: number): Promise<NewToken> {
      return (await (
        await service.ask("POST", "/tokens", JSON.stringify({ name: "clock", scopes: ["plants:read"], days }))
      ).json()) as NewToken;
    },
    statusWith: ({ token }: NewToken) => askAs(token, service).statusOf("GET", "/plants"),
    isReady: async () => (await fetch(`${service.url}/readyz`)).status === 200,
  };
}

it(`${JUMPS.length} jumps of the clock, by a day or two forwards and back, leave each create answered 200, lose nothing, and log nothing unusual`, async () => {
  const { clock, createToken, isReady, ...service } = await openGarden(PATIENT);
  const flood = startFlood({ ...service, firstId: 1n });
  for (const days of JUMPS) {
    clock.setDaysOff(days);
    const answered = flood.count();
    await Bun.sleep(BETWEEN_MS);
    expect(await isReady()).toBe(true);
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
  expect(judgeFolder(service.data, journal)).toEqual(SOUND);
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
  const { clock, createToken, statusWith, statusOf } = await openGarden();
  const token = await createToken();
  expect(await statusWith(token)).toBe(200);
  clock.setDaysOff(-1);
  expect(await statusOf("DELETE", `/tokens/${token.id}`)).toBe(204);
  expect(await isWithin(3000, async () => (await statusWith(token)) === 401)).toBe(true);
});

it("a create that waits for the disk while the clock jumps a day forwards is not refused", async () => {
  /** Longer than the interval at which the service looks for creates that have waited too long, and shorter than one may. */
  const WAIT_MS = 400;
  const WAIT_MS_MAX = 900;
  const { data, clock, create } = await openGarden();
  const statuses: number[] = [];
  for (let id = 1; statuses.length < 2 && id < 20; id += 1) {
    clock.setDaysOff(0);
    const unlock = await lockWrites({ data });
    const began = performance.now();
    const response = create(id);
    await Bun.sleep(WAIT_MS / 4);
    clock.setDaysOff(1);
    await Bun.sleep(WAIT_MS);
    await unlock();
    const { status } = await response;
    // Otherwise the machine was slow, and it may have waited for longer than the limit.
    if (performance.now() - began < WAIT_MS_MAX) statuses.push(status);
  }
  expect(statuses).toEqual([200, 200]);
});

it("a service that is unready, because the disk refuses to write, while the clock jumps a day back tries again and is ready", async () => {
  const { data, clock, create, isReady } = await openGarden();
  const unlock = await lockWrites({ data });
  expect((await create(1)).status).toBe(503);
  // The create times out before the disk does.
  expect(await isWithin(4000, async () => !(await isReady()))).toBe(true);
  clock.setDaysOff(-1);
  await unlock();
  expect(await isWithin(4000, isReady)).toBe(true);
});
