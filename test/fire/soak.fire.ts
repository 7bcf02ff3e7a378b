import { afterAll, describe, expect, it } from "bun:test";
import { median, quantile } from "../../bench/quantile.ts";
import { ENGINES } from "../engines.ts";
import type { Engine } from "../engines.ts";
import { plantBugs } from "../planted.ts";
import type { PlantedBug } from "../planted.ts";
import { seedOf } from "../random.ts";
import { inForm, tell } from "./form.ts";
import { killServices } from "./service.ts";
import { findGrowth, readVitals } from "./vitals.ts";
import type { Vitals } from "./vitals.ts";
import { takeTurns } from "./soak/turns.ts";
import type { Pair } from "./soak/turns.ts";
import { startWorked } from "./soak/worked.ts";
import type { Pulse } from "./soak/worked.ts";

/** An hour wants TEST_SOAK_SECONDS=3600. */
const SECONDS = inForm(7, Number(process.env["TEST_SOAK_SECONDS"] ?? 600));
const PER_SECOND = inForm(400, 1000);
const WINDOWS = inForm(15, 60);
/** Turns of the old service and of a new one. */
const TURNS = inForm({ count: 5, seconds: 0.5 }, { count: 60, seconds: 4 });
/** The bugs are so steep that a few seconds show them, in the long form too. */
const BUG_RUN = { seconds: 9, perSecond: 200, windows: 15, turns: { count: 3, seconds: 0.5 } };

/** What was measured in a window of time, and what the service had at its end. */
type Window = Vitals & Pulse;

/** How much more than in the middle third of a run it may be in the last: so many times as much, and so much more. */
const GROWTH_LIMITS: Readonly<Record<keyof Vitals, Readonly<{ times: number; more: number }>>> = {
  megabytes: { times: 1.25, more: 0 },
  files: { times: 1, more: 5 },
  threads: { times: 1, more: 3 },
};
/** How many times that of a new service it may be in the old one. The short form is short, and runs beside whatever else a machine does. */
const AGE_LIMITS: Readonly<Record<keyof Pulse, number>> = { p99Ms: inForm(10, 1.1), cpuMs: inForm(2, 1.1) };

afterAll(killServices, 30_000);

type Soak = Readonly<{
  engine: Engine;
  seed: number;
  name?: string;
  root?: string;
  seconds?: number;
  perSecond?: number;
  windows?: number;
  turns?: Readonly<{ count: number; seconds: number }>;
}>;

/** A service under a mix of work at a fixed rate: looked at window by window, then beside a new one that has the same to do. */
async function soak({
  engine,
  seed,
  name = engine.engine,
  root,
  seconds = SECONDS,
  perSecond = PER_SECOND,
  windows: windowCount = WINDOWS,
  turns = TURNS,
}: Soak) {
  const old = await startWorked({ engine, seed, root });
  const windows: Window[] = [];
  const windowMs = (seconds * 1000) / windowCount;
  const load = old.start(perSecond);
  const started = performance.now();
  while (windows.length < windowCount) {
    await Bun.sleep(started + (windows.length + 1) * windowMs - performance.now());
    windows.push({ ...readVitals(old.service.pid), ...load.takePulse() });
    draw(name, (windows.length * windowMs) / 1000, windows.at(-1)!);
  }
  const perSecondAnswered = load.answered() / ((performance.now() - started) / 1000);
  await load.stop();
  const young = await startWorked({ engine, seed, root });
  const pairs = await takeTurns({ old, young, perSecond, turns });
  await old.settle();
  await young.settle();
  expect(await young.service.end("SIGTERM")).toBe(0);
  return { service: old.service, windows, pairs, wrong: [...old.wrong, ...young.wrong], perSecondAnswered };
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

/** What grew from the middle third of the run to the last by more than it may, and what is worse than in a new service. */
function findWorn({ windows, pairs }: Readonly<{ windows: readonly Window[]; pairs: readonly Pair[] }>): (keyof Window)[] {
  const grown = (Object.keys(GROWTH_LIMITS) as (keyof Vitals)[]).filter((name) => {
    const { middle, last } = findGrowth(windows, name);
    return !(last <= middle * GROWTH_LIMITS[name].times + GROWTH_LIMITS[name].more);
  });
  const aged = (Object.keys(AGE_LIMITS) as (keyof Pulse)[]).filter((name) => !(median(findRatios(pairs, name)) <= AGE_LIMITS[name]));
  return [...grown, ...aged];
}

/** How many times that of the new service it was in the old one, in each pair of turns. */
function findRatios(pairs: readonly Pair[], name: keyof Pulse): number[] {
  return pairs.map(({ old, young }) => old[name] / young[name]);
}

function tellWear({ windows, pairs }: Readonly<{ windows: readonly Window[]; pairs: readonly Pair[] }>): string {
  const growth = (["megabytes", "files", "threads", "p99Ms", "cpuMs"] as const).map((name) => {
    const { middle, last } = findGrowth(windows, name);
    return `${name} ${middle.toFixed(2)}, then ${last.toFixed(2)}`;
  });
  const age = (["p99Ms", "cpuMs"] as const).map((name) => {
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(findRatios(pairs, name), share).toFixed(2));
    return `${name} ${middle} [${low}-${high}] of that of a new service`;
  });
  return [...growth, ...age].join("; ");
}

describe(`${SECONDS} s of mixed work at a fixed rate`, () => {
  for (const engine of ENGINES) {
    it(`leave memory, files, threads, latency and processor time a request flat on ${engine.engine}, every answer right, and the catalogue as it must be`, async () => {
      const { service, wrong, perSecondAnswered, ...run } = await soak({ engine, seed: seedOf("soak") });
      tell(`a long run, ${engine.engine}`, `${Math.round(perSecondAnswered)} requests a second for ${SECONDS} s; ${tellWear(run)}`);
      expect(wrong).toEqual([]);
      expect(perSecondAnswered).toBeGreaterThan(PER_SECOND * 0.9);
      expect(findWorn(run)).toEqual([]);
      expect(await service.end("SIGTERM")).toBe(0);
    });
  }
});

const ANSWERING = "const requestId = requestIdOf(request);";
const COUNTING = "const count = ((globalThis as any).count = ((globalThis as any).count ?? 0) + 1);";
const BUGS: ReadonlyArray<Readonly<{ why: string; worn: keyof Window; bug: PlantedBug }>> = [
  {
    why: "every request left something in memory",
    worn: "megabytes",
    bug: {
      file: "src/http/app.ts",
      from: ANSWERING,
      to: `((globalThis as any).kept ??= []).push(request, new Uint8Array(300_000).fill(1)); ${ANSWERING}`,
    },
  },
  {
    why: "every request left a file open",
    worn: "files",
    bug: { file: "src/http/app.ts", from: ANSWERING, to: `process.getBuiltinModule("node:fs").openSync("/dev/null"); ${ANSWERING}` },
  },
  {
    why: "every answer waited longer than the one before, after a while",
    worn: "p99Ms",
    bug: {
      file: "src/http/app.ts",
      from: ANSWERING,
      to: `${COUNTING} await new Promise((go) => setTimeout(go, Math.min(2000, (count - 1150) * 20))); ${ANSWERING}`,
    },
  },
  {
    why: "every request took more of the processor than the one before",
    worn: "cpuMs",
    bug: {
      file: "src/http/app.ts",
      from: ANSWERING,
      to: `${COUNTING} const until = performance.now() + Math.min(10, 0.002 * 1.007 ** count); while (performance.now() < until); ${ANSWERING}`,
    },
  },
];

describe("a long run would be noticed to wear the service out if", () => {
  for (const { why, worn, bug } of BUGS) {
    it.concurrent(why, async () => {
      const run = await soak({
        engine: ENGINES[0]!,
        seed: seedOf("planted bug"),
        name: `bug: ${worn}`,
        root: plantBugs([bug]),
        ...BUG_RUN,
      });
      expect(findWorn(run)).toContain(worn);
    });
  }
});
