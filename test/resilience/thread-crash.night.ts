import { afterEach, describe, expect, it } from "bun:test";
import { sleepPatiently } from "../support/patient-clock.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { until } from "../support/until.ts";
import { startFlood } from "../support/flood.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
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
type Trigger = (service: Service) => void;

/** A crash under load, and what a sound service finds after it. */
async function crash(planted: PlantedBug, trigger: Trigger): Promise<Crash> {
  const service = await startService({ root: plantBugs([planted]) });
  const { data } = service;
  const flood = startFlood({ ...service, firstId: 1n });
  await until("The service is busy", () => flood.count() > ANSWERED_MIN);
  const began = performance.now();
  trigger(service);
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
const asWriter: Trigger = ({ ask }) => void ask("POST", "/plants", '{"id":-1,"name":"crashnow"}').catch(() => {});
const asSearch: Trigger = ({ ask }) => void ask("GET", "/plants?q=crashnow").catch(() => {});
const bySignal: Trigger = ({ pid }) => void process.kill(pid, "SIGUSR2");

const THROW = 'throw new Error("planted");';
const THROW_LATER = `setTimeout(() => { ${THROW} }, 1);`;
const REJECT = 'void Promise.reject(new Error("planted"));';

/** A thread runs this when a request contains the word crashnow. No bug: a way to crash a part. */
function crashThread(part: "writer" | "search", how: string): PlantedBug {
  const call = "void reply(seq, () => methods[method]!(...(args as never[])));";
  const to = `if (part === "${part}" && Bun.inspect(args).includes("crashnow")) { ${how} } ${call}`;
  return { file: "src/store/sqlite/engine/worker.ts", from: call, to };
}

/** The main thread runs this on SIGUSR2. No bug either. */
function crashOnSignal(how: string): PlantedBug {
  const last = "announce(running, { log, isTerminal, exposed, config });";
  return { file: "src/cli/serve.ts", from: last, to: `${last} process.on("SIGUSR2", () => { ${how} });` };
}

const EXIT = "process.exit(3);";

const CRASHES: ReadonlyArray<readonly [what: string, crash: PlantedBug, trigger: Trigger, event: string, message: string]> = [
  ["the writer throws", crashThread("writer", THROW), asWriter, "store_failed", "planted"],
  ["a timer of the writer throws", crashThread("writer", THROW_LATER), asWriter, "store_failed", "planted"],
  ["the writer has an unhandled rejection", crashThread("writer", REJECT), asWriter, "store_failed", "planted"],
  ["the writer ends", crashThread("writer", EXIT), asWriter, "store_failed", "The writer ended with 3."],
  ["the search throws", crashThread("search", THROW), asSearch, "store_failed", "planted"],
  ["the search ends", crashThread("search", EXIT), asSearch, "store_failed", "The search ended with 3."],
  ["a timer throws", crashOnSignal(THROW_LATER), bySignal, "crashed", "planted"],
  ["a promise rejects without a handler", crashOnSignal(REJECT), bySignal, "crashed", "planted"],
];

describe("the service ends with 1, says why in the last line of the log, and loses no answered plant when", () => {
  for (const [what, planted, trigger, event, message] of CRASHES) {
    it(what, async () => {
      const endsMs: number[] = [];
      let plants = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const { status, answered, lastEvent, verdict, endMs } = await crash(planted, trigger);
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
