import { afterEach, describe, expect, it } from "bun:test";
import { ANSWER_BEFORE_COMMIT, crashOnSignal, crashThread, GO_ON_AFTER_CRASH, GO_ON_WITHOUT_THREAD } from "../support/bugs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sleepPatiently } from "../support/patient-clock.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { until } from "../support/until.ts";
import type { ServiceProcess } from "../support/process.ts";
import { readToken } from "../support/service.ts";
import { startFlood } from "../support/flood.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, startService } from "../support/service-process.ts";
import { judgeFolder, SOUND } from "../support/stored.ts";
import type { Verdict } from "../support/stored.ts";

afterEach(killServices);

/** How long the service has to end by itself. */
const END_MS_MAX = 5000;
/** A crash counts only if the service was busy. */
const ANSWERED_MIN = 200;
const ROUNDS = inForm(1, 20);

type Crash = Readonly<{ status: unknown; answered: number; lastEvent: Record<string, unknown>; verdict: Verdict; endMs: number }>;
/** Triggers the crash that is planted in the copy. */
type Trigger = (service: ServiceProcess, request: (path: string, init?: RequestInit) => Promise<unknown>) => void;

/** A crash under load, and what a sound service finds after it. */
async function crash(bugs: readonly PlantedBug[], trigger: Trigger): Promise<Crash> {
  const data = temporaryFolder();
  const service = await startService({ data, root: plantBugs(bugs) });
  const token = await readToken(data);
  const flood = startFlood({ url: service.url, token, firstId: 1n });
  await until("The service is busy", () => flood.count() > ANSWERED_MIN);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const began = performance.now();
  trigger(service, (path, init) => fetch(`${service.url}${path}`, { ...init, headers }).catch(() => {}));
  const status = await Promise.race([service.exited, sleepPatiently(END_MS_MAX).then(() => "it still runs")]);
  const endMs = performance.now() - began;
  await service.end("SIGKILL");
  const journal = await flood.stop();
  const restarted = await startService({ data });
  expect((await fetch(`${restarted.url}/readyz`)).status).toBe(200);
  expect(await restarted.end("SIGTERM")).toBe(0);
  const lastEvent = JSON.parse(service.lines.at(-1)!) as Record<string, unknown>;
  return { status, answered: journal.answered.length, lastEvent, verdict: judgeFolder(data, journal), endMs };
}

/** A plant that is not one of the flood. */
const asWriter: Trigger = (_, request) => void request("/plants", { method: "POST", body: '{"id":-1,"name":"crashnow"}' });
const asSearch: Trigger = (_, request) => void request("/plants?q=crashnow");
const bySignal: Trigger = ({ pid }) => void process.kill(pid, "SIGUSR2");

const THROW = 'throw new Error("planted");';
const THROW_LATER = `setTimeout(() => { ${THROW} }, 1);`;
const REJECT = 'void Promise.reject(new Error("planted"));';

const CRASHES: ReadonlyArray<Readonly<{ what: string; bugs: readonly PlantedBug[]; trigger: Trigger; event: string; message: string }>> = [
  { what: "the writer throws", bugs: crashThread("writer", THROW), trigger: asWriter, event: "store_failed", message: "planted" },
  {
    what: "a timer of the writer throws",
    bugs: crashThread("writer", THROW_LATER),
    trigger: asWriter,
    event: "store_failed",
    message: "planted",
  },
  {
    what: "the writer has an unhandled rejection",
    bugs: crashThread("writer", REJECT),
    trigger: asWriter,
    event: "store_failed",
    message: "planted",
  },
  {
    what: "the writer ends",
    bugs: crashThread("writer", "process.exit(3);"),
    trigger: asWriter,
    event: "store_failed",
    message: "The writer ended with 3.",
  },
  { what: "the search throws", bugs: crashThread("search", THROW), trigger: asSearch, event: "store_failed", message: "planted" },
  {
    what: "the search ends",
    bugs: crashThread("search", "process.exit(3);"),
    trigger: asSearch,
    event: "store_failed",
    message: "The search ended with 3.",
  },
  { what: "a timer throws", bugs: crashOnSignal(THROW_LATER), trigger: bySignal, event: "crashed", message: "planted" },
  { what: "a promise rejects without a handler", bugs: crashOnSignal(REJECT), trigger: bySignal, event: "crashed", message: "planted" },
];

describe("the service ends with 1, says why in the last line of the log, and loses no answered plant when", () => {
  for (const { what, bugs, trigger, event, message } of CRASHES) {
    it(what, async () => {
      const endsMs: number[] = [];
      let plants = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const { status, answered, lastEvent, verdict, endMs } = await crash(bugs, trigger);
        expect(status).toBe(1);
        expect(lastEvent).toMatchObject({
          level: "error",
          event,
          error: { message: expect.stringMatching(new RegExp(`^.{0,20}${message}$`)) },
        });
        expect(verdict).toEqual(SOUND);
        expect(answered).toBeGreaterThan(ANSWERED_MIN);
        plants += answered;
        endsMs.push(endMs);
      }
      tell(`crash: ${what}`, `in ${ROUNDS}, ${plants} plants answered, 0 lost; ended with 1 within ${Math.round(Math.max(...endsMs))} ms`);
    });
  }
});

describe("it would be noticed if the service", () => {
  it("went on without its writer", async () => {
    const { status } = await crash([...crashThread("writer", "process.exit(3);"), ...GO_ON_WITHOUT_THREAD], asWriter);
    expect(status).toBe("it still runs");
  });

  it("went on after an uncaught error", async () => {
    const { status } = await crash([...GO_ON_AFTER_CRASH, ...crashOnSignal(THROW_LATER)], bySignal);
    expect(status).toBe("it still runs");
  });

  it("answered creates before their commit and the writer ended", async () => {
    const bugs = [...crashThread("writer", "process.exit(3);"), ...ANSWER_BEFORE_COMMIT];
    // Now and then nothing is between its answer and its commit at that moment.
    await until("An answered plant is lost", async () => (await crash(bugs, asWriter)).verdict.lost.length > 0);
  });
});
