import { afterAll, describe, expect, it } from "bun:test";
import { cpuSecondsOf } from "../../bench/cputime.ts";
import { ENGINES } from "../engines.ts";
import type { Engine } from "../engines.ts";
import { plantBugs } from "../planted.ts";
import type { PlantedBug } from "../planted.ts";
import { openRandom, seedOf } from "../random.ts";
import { inForm, tell } from "./form.ts";
import { startPace } from "./soak/pace.ts";
import { killServices, startOn } from "./service.ts";
import { findGrowth, readVitals } from "./vitals.ts";
import type { Vitals } from "./vitals.ts";
import { openWire } from "./wire.ts";
import { createWork } from "./soak/work.ts";

/** An hour wants TEST_SOAK_SECONDS=3600. */
const SECONDS = inForm(7, Number(process.env["TEST_SOAK_SECONDS"] ?? 600));
const PER_SECOND = inForm(400, 1000);
const WINDOWS = inForm(15, 60);
/** The bugs are so steep that a few seconds show them, in the long form too. */
const BUG_RUN = { seconds: 9, perSecond: 200, windows: 15 };

/** What the service had at the end of a window of time, how long 99 of 100 requests took in it, and what each took of the processor. */
type Window = Vitals & Readonly<{ p99Ms: number; cpuMs: number }>;

/** How much more than in the middle third of a run it may be in the last: so many times as much, and so much more. */
const LIMITS: Readonly<Record<keyof Window, Readonly<{ times: number; more: number }>>> = {
  megabytes: { times: 1.25, more: 0 },
  files: { times: 1, more: 5 },
  threads: { times: 1, more: 3 },
  // The short form runs beside whatever else a machine does.
  p99Ms: inForm({ times: 2, more: 250 }, { times: 1.1, more: 1 }),
  cpuMs: inForm({ times: 2, more: 0.5 }, { times: 1.25, more: 0 }),
};

afterAll(killServices, 30_000);

type Soak = Readonly<{
  engine: Engine;
  seed: number;
  name?: string;
  root?: string;
  seconds?: number;
  perSecond?: number;
  windows?: number;
}>;

/** A service under a mix of work at a fixed rate, looked at window by window. */
async function soak({
  engine,
  seed,
  name = engine.engine,
  root,
  seconds = SECONDS,
  perSecond = PER_SECOND,
  windows: count = WINDOWS,
}: Soak) {
  const service = await startOn(engine, root);
  const work = createWork({ token: service.token, random: openRandom(seed) });
  const wire = openWire(service.url);
  await work.prepare(wire);
  const pace = startPace({ url: service.url, perSecond, work });
  const windows: Window[] = [];
  const windowMs = (seconds * 1000) / count;
  const started = performance.now();
  let before = { answered: 0, cpuSeconds: cpuSecondsOf(service.pid) };
  while (windows.length < count) {
    await Bun.sleep(started + (windows.length + 1) * windowMs - performance.now());
    const now = { answered: pace.answered(), cpuSeconds: cpuSecondsOf(service.pid) };
    const cpuMs = (1000 * (now.cpuSeconds - before.cpuSeconds)) / (now.answered - before.answered);
    windows.push({ ...readVitals(service.pid), p99Ms: pace.takeP99Ms(), cpuMs });
    before = now;
    draw(name, (windows.length * windowMs) / 1000, windows.at(-1)!);
  }
  const perSecondAnswered = pace.answered() / ((performance.now() - started) / 1000);
  await pace.stop();
  await work.settle(wire);
  wire.close();
  return { service, windows, wrong: work.wrong, perSecondAnswered };
}

/** A line, so that whoever watches sees something grow. */
function draw(name: string, seconds: number, { megabytes, files, threads, p99Ms, cpuMs }: Window): void {
  const cells = [
    `${Math.round(seconds)} s`,
    `${Math.round(megabytes)} MB`,
    `${files} files`,
    `${threads} threads`,
    `p99 ${p99Ms.toFixed(1)} ms`,
    `${cpuMs.toFixed(2)} CPU ms`,
  ];
  console.log(`${name.padEnd(16)}${cells.map((cell) => cell.padStart(14)).join("")}  ${"#".repeat(Math.round(megabytes / 10))}`);
}

/** What grew from the middle third of the run to the last by more than it may. */
function findGrown(windows: readonly Window[]): (keyof Window)[] {
  return (Object.keys(LIMITS) as (keyof Window)[]).filter((name) => {
    const { middle, last } = findGrowth(windows, name);
    return !(last <= middle * LIMITS[name].times + LIMITS[name].more);
  });
}

function tellGrowth(windows: readonly Window[]): string {
  const names = Object.keys(LIMITS) as (keyof Window)[];
  return names
    .map(
      (name) =>
        `${name} ${Object.values(findGrowth(windows, name))
          .map((value) => value.toFixed(2))
          .join(", then ")}`,
    )
    .join("; ");
}

describe(`${SECONDS} s of mixed work at a fixed rate`, () => {
  for (const engine of ENGINES) {
    it(`leave memory, files, threads, latency and processor time a request flat on ${engine.engine}, every answer right, and the catalogue as it must be`, async () => {
      const { service, windows, wrong, perSecondAnswered } = await soak({ engine, seed: seedOf("soak") });
      tell(`a long run, ${engine.engine}`, `${Math.round(perSecondAnswered)} requests a second for ${SECONDS} s; ${tellGrowth(windows)}`);
      expect(wrong).toEqual([]);
      expect(perSecondAnswered).toBeGreaterThan(PER_SECOND * 0.9);
      expect(findGrown(windows)).toEqual([]);
      expect(await service.end("SIGTERM")).toBe(0);
    });
  }
});

const ANSWERING = "const requestId = requestIdOf(request);";
const COUNTING = "const count = ((globalThis as any).count = ((globalThis as any).count ?? 0) + 1);";
const BUGS: ReadonlyArray<Readonly<{ why: string; grown: keyof Window; bug: PlantedBug }>> = [
  {
    why: "every request left something in memory",
    grown: "megabytes",
    bug: {
      file: "src/http/app.ts",
      from: ANSWERING,
      to: `((globalThis as any).kept ??= []).push(request, new Uint8Array(300_000).fill(1)); ${ANSWERING}`,
    },
  },
  {
    why: "every request left a file open",
    grown: "files",
    bug: { file: "src/http/app.ts", from: ANSWERING, to: `process.getBuiltinModule("node:fs").openSync("/dev/null"); ${ANSWERING}` },
  },
  {
    why: "every answer waited longer than the one before, after a while",
    grown: "p99Ms",
    bug: {
      file: "src/http/app.ts",
      from: ANSWERING,
      to: `${COUNTING} await new Promise((go) => setTimeout(go, Math.min(2000, (count - 1150) * 20))); ${ANSWERING}`,
    },
  },
  {
    why: "every request took more of the processor than the one before",
    grown: "cpuMs",
    bug: {
      file: "src/http/app.ts",
      from: ANSWERING,
      to: `${COUNTING} const until = performance.now() + Math.min(10, 0.002 * 1.007 ** count); while (performance.now() < until); ${ANSWERING}`,
    },
  },
];

describe("a long run would be noticed to wear the service out if", () => {
  for (const { why, grown, bug } of BUGS) {
    it.concurrent(why, async () => {
      const { windows } = await soak({
        engine: ENGINES[0]!,
        seed: seedOf("planted bug"),
        name: `bug: ${grown}`,
        root: plantBugs([bug]),
        ...BUG_RUN,
      });
      expect(findGrown(windows)).toContain(grown);
    });
  }
});
