import { afterEach, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { findFreePort } from "../support/port.ts";
import { until } from "../support/until.ts";
import { readToken } from "../support/service.ts";
import { startFlood } from "../support/flood.ts";
import type { Journal } from "../support/flood.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, PATIENT, spawnService, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";

afterEach(killServices);

/** Every request is a line of about 200 bytes: together twice what may wait, or more. */
const CREATES = inForm(10_000, 1_000_000);
/** Ends a load that hangs. Among other files the short form took 40 s. */
const LOAD_MS_MAX = inForm(300_000, 3_600_000);
const FLAGS = [...PATIENT, "--log", "debug"];

/** Load until so many creates have been answered, all 200, and none is lost. */
async function load({ url, data, token }: Pick<Service, "url" | "data" | "token">): Promise<Journal> {
  const flood = startFlood({ url, token, firstId: 1n });
  const deadline = performance.now() + LOAD_MS_MAX;
  while (flood.count() < CREATES && performance.now() < deadline && (await isAlive(url))) await Bun.sleep(20);
  const journal = await flood.stop();
  expect(journal.others).toEqual([]);
  expect(journal.answered).toHaveLength(journal.attempted.length);
  expect(journal.answered.length).toBeGreaterThanOrEqual(CREATES);
  expect(judgeFolder(data, journal)).toEqual(SOUND);
  return journal;
}

async function isAlive(url: string): Promise<boolean> {
  return fetch(`${url}/livez`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

it(`each of ${CREATES} creates is answered 200 when its reader disconnects, and SIGTERM ends the service with 0`, async () => {
  const service = await startService({ flags: FLAGS });
  // The service writes into a pipe whose other end is closed.
  service.output.destroy();
  await load(service);
  expect(await service.end("SIGTERM")).toBe(0);
});

it(`each of ${CREATES} creates is answered 200 when its reader stops reading, only some of the lines wait in memory, and the log says how many are missing`, async () => {
  const service = await startService({ flags: FLAGS });
  // On a full pipe, which is read again at the end.
  service.output.pause();
  const { answered } = await load(service);
  const read = service.lines.length;
  service.output.resume();
  await until("The lines that waited are read", () => service.lines.length > read + 1000);
  // Later lines come after the gap.
  await fetch(`${service.url}/livez`);
  expect(await service.end("SIGTERM")).toBe(0);
  const gaps = service.lines.filter((line) => line.includes('"event":"log_gap"'));
  const missing = gaps.reduce((sum, line) => sum + (JSON.parse(line) as { lines: number }).lines, 0);
  expect(missing).toBeGreaterThan(0);
  // Each create is a line, and so is each request for /livez.
  expect(service.lines.length + missing).toBeGreaterThanOrEqual(answered.length);
  tell("log without an active reader", `${answered.length} creates, each answered 200; ${missing} lines left out, and said so`);
});

it(`a log on a full disk does not keep ${CREATES} creates from being answered 200, and SIGTERM ends the service with 0`, async () => {
  const data = temporaryFolder();
  const port = await findFreePort();
  const under = ["sh", "-c", 'exec "$@" > /dev/full', "sh"];
  const service = spawnService({ data, under, flags: [...FLAGS, "--port", String(port)] });
  const url = `http://127.0.0.1:${port}`;
  await until("The service answers", () => isAlive(url));
  await load({ url, data, token: await readToken(data) });
  expect(service.lines).toEqual([]);
  expect(await service.end("SIGTERM")).toBe(0);
});
