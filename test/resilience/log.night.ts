import { afterEach, describe, expect, it } from "bun:test";
import { END_WITH_LOG, KEEP_WHOLE_LOG } from "../support/bugs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { findFreePort } from "../support/port.ts";
import { until } from "../support/until.ts";
import { PROJECT } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { startFlood } from "../support/flood.ts";
import type { Journal } from "../support/flood.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, PATIENT, spawnService, startService } from "../support/service-process.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";

afterEach(killServices);

/** Every request is a line of about 200 bytes: together twice what may wait, or more. */
const CREATES = inForm(10_000, 1_000_000);
/** Ends a load that hangs. Among other files the short form took 40 s. */
const LOAD_MS_MAX = inForm(300_000, 3_600_000);
const FLAGS = [...PATIENT, "--log", "debug"];

/** Load until this many creates have been answered, or all clients have lost their service. */
async function load(url: string, data: string, creates: number): Promise<Journal> {
  const flood = startFlood({ url, token: await readToken(data), firstId: 1n });
  const deadline = performance.now() + LOAD_MS_MAX;
  while (flood.count() < creates && performance.now() < deadline && (await isAlive(url))) await Bun.sleep(20);
  return flood.stop();
}

async function isAlive(url: string): Promise<boolean> {
  return fetch(`${url}/livez`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

function expectUnmoved(journal: Journal, data: string): void {
  expect(journal.others).toEqual([]);
  expect(journal.answered).toHaveLength(journal.attempted.length);
  expect(journal.answered.length).toBeGreaterThanOrEqual(CREATES);
  expect(judgeFolder(data, journal)).toEqual(SOUND);
}

describe("when the reader of the log disconnects", () => {
  /** The service writes into a pipe whose other end is closed. */
  async function closeLog(root: string, creates: number) {
    const data = temporaryFolder();
    const service = await startService({ data, root, flags: FLAGS });
    service.output.destroy();
    const journal = await load(service.url, data, creates);
    return { data, journal, status: await service.end("SIGTERM") };
  }

  it(`each of ${CREATES} creates is still answered 200, and SIGTERM ends the service with 0`, async () => {
    const { data, journal, status } = await closeLog(PROJECT, CREATES);
    expectUnmoved(journal, data);
    expect(status).toBe(0);
    tell("log without a reader", `${journal.answered.length} creates, each answered 200`);
  });

  it("it would be noticed if the service ended with it", async () => {
    const { journal, status } = await closeLog(plantBugs(END_WITH_LOG), CREATES);
    expect(journal.answered.length).toBeLessThan(CREATES);
    expect(status).toBe(1);
  });
});

describe("when the reader of the log stops reading", () => {
  /**
   * Load on a full pipe, which is read again at the end. Resolves with the number of lines that the service says it
   * left out.
   */
  async function stopReading(root: string) {
    const data = temporaryFolder();
    const service = await startService({ data, root, flags: FLAGS });
    service.output.pause();
    const journal = await load(service.url, data, CREATES);
    const read = service.lines.length;
    service.output.resume();
    await until("The lines that waited are read", () => service.lines.length > read + 1000);
    // Later lines come after the gap.
    await fetch(`${service.url}/livez`);
    const status = await service.end("SIGTERM");
    const gaps = service.lines.filter((line) => line.includes('"event":"log_gap"'));
    const missing = gaps.reduce((sum, line) => sum + (JSON.parse(line) as { lines: number }).lines, 0);
    return { data, journal, status, missing, lines: service.lines.length };
  }

  it(`each of ${CREATES} creates is still answered 200, only some of the lines wait in memory, and the log says how many are missing`, async () => {
    const { data, journal, status, missing, lines } = await stopReading(PROJECT);
    expectUnmoved(journal, data);
    expect(status).toBe(0);
    expect(missing).toBeGreaterThan(0);
    // Each create is a line, and so is each request for /livez.
    expect(lines + missing).toBeGreaterThanOrEqual(journal.answered.length);
    tell("log without an active reader", `${journal.answered.length} creates, each answered 200; ${missing} lines left out, and said so`);
  });

  it("it would be noticed if the service kept all of them", async () => {
    expect((await stopReading(plantBugs(KEEP_WHOLE_LOG))).missing).toBe(0);
  });
});

it(`a log on a full disk does not keep ${CREATES} creates from being answered 200, and SIGTERM ends the service with 0`, async () => {
  const data = temporaryFolder();
  const port = await findFreePort();
  const under = ["sh", "-c", 'exec "$@" > /dev/full', "sh"];
  const service = spawnService({ data, under, flags: [...FLAGS, "--port", String(port)] });
  const url = `http://127.0.0.1:${port}`;
  await until("The service answers", () => isAlive(url));
  const journal = await load(url, data, CREATES);
  expectUnmoved(journal, data);
  expect(service.lines).toEqual([]);
  expect(await service.end("SIGTERM")).toBe(0);
  tell("log on a full disk", `${journal.answered.length} creates, each answered 200`);
});
