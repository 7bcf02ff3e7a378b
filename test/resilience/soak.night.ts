import { afterAll, describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import type { Engine } from "../support/engines.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices } from "../support/service-process.ts";
import { readVitals } from "../support/vitals.ts";
import { takeTurns } from "../support/soak/rounds.ts";
import type { Turns } from "../support/soak/rounds.ts";
import { startSubject } from "../support/soak/subject.ts";
import type { Pulse } from "../support/soak/subject.ts";
import { findWear, tellWear } from "../support/soak/wear.ts";
import type { Window } from "../support/soak/wear.ts";

/** For an hour, set TEST_SOAK_SECONDS=3600. */
const SECONDS = inForm(7, Number(process.env["TEST_SOAK_SECONDS"] ?? 600));
const PER_SECOND = inForm(250, 1000);
const WINDOWS = inForm(15, 60);
/** On a shared machine, a single ratio of p99s says little. */
const TURNS: Turns = inForm({ warmUp: 2, count: 5, seconds: 0.5 }, { warmUp: 15, count: 60, seconds: 4 });
/** The bugs are so steep that a few seconds show them, even in the long form. */
const BUG_RUN = { seconds: 9, perSecond: 200, windows: 15, turns: { warmUp: 1, count: 3, seconds: 0.5 } };

afterAll(killServices);

type Soak = Readonly<{
  engine: Engine;
  seed: number;
  name?: string;
  root?: string;
  seconds?: number;
  perSecond?: number;
  windows?: number;
  turns?: Turns;
}>;

/** A service under mixed work at a fixed rate: measured window by window, then next to a new one with the same work. */
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
  const old = await startSubject({ engine, seed, root });
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
  const young = await startSubject({ engine, seed, root });
  const pairs = await takeTurns({ old, young }, { ...turns, perSecond });
  const statuses = [await old.end(), await young.end()];
  return { windows, pairs, statuses, wrong: [...old.wrong, ...young.wrong], perSecondAnswered };
}

/** A line for people who watch, to see what grows. */
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

const soakOn = (engine: Engine) => soak({ engine, seed: seedOf("soak") });

/** In the short form both engines work at the same time, which leaves enough of two processors. */
const soakBoth = inForm(
  () => Promise.all(ENGINES.map(soakOn)),
  async () => {
    const runs = [];
    for (const engine of ENGINES) runs.push(await soakOn(engine));
    return runs;
  },
);

it(`${SECONDS} s of mixed work at a fixed rate keep memory, files, threads, latency and processor time a request flat on both engines, every response right, and the catalogue correct`, async () => {
  for (const [at, { statuses, wrong, perSecondAnswered, ...run }] of (await soakBoth()).entries()) {
    const { engine } = ENGINES[at]!;
    tell(`a long run, ${engine}`, `${Math.round(perSecondAnswered)} requests a second for ${SECONDS} s; ${tellWear(run)}`);
    expect({ engine, wrong }).toEqual({ engine, wrong: [] });
    expect(perSecondAnswered).toBeGreaterThan(PER_SECOND * 0.9);
    expect({ engine, ...findWear(run) }).toEqual({ engine, grown: [], aged: [] });
    expect(statuses).toEqual([0, 0]);
  }
});

const ANSWERING = "const exchange = openExchange(request);";
/** The old service has answered 1,800 requests when the turns begin, and the new one less than 900 when they end. */
const COUNTING = "const count = ((globalThis as any).count = ((globalThis as any).count ?? 0) + 1);";
/** In microseconds of the processor: a clock would run on while others have it. */
const SPENT = "const spent = () => process.cpuUsage().user + process.cpuUsage().system;";
const BUGS: ReadonlyArray<Readonly<{ why: string; grown: readonly (keyof Window)[]; aged?: keyof Pulse; bug: PlantedBug }>> = [
  {
    why: "every request left something in memory, and a file open",
    grown: ["megabytes", "files"],
    bug: {
      file: "src/http/app.ts",
      from: ANSWERING,
      to: `((globalThis as any).kept ??= []).push(request, new Uint8Array(300_000).fill(1)); process.getBuiltinModule("node:fs").openSync("/dev/null"); ${ANSWERING}`,
    },
  },
  {
    why: "every response waited longer than the one before, after a while",
    grown: ["p99Ms"],
    aged: "p99Ms",
    bug: {
      file: "src/http/app.ts",
      from: ANSWERING,
      to: `${COUNTING} if (count > 1150) return new Promise((go) => setTimeout(go, Math.min(800, (count - 1150) * 20))).then(() => answerSafely(openExchange(request))); ${ANSWERING}`,
    },
  },
  {
    why: "every request took more processor time than the one before",
    grown: ["cpuMs"],
    aged: "cpuMs",
    bug: {
      file: "src/http/app.ts",
      from: ANSWERING,
      to: `${COUNTING} ${SPENT} const until = spent() + 1000 * Math.min(4, 0.002 * 1.007 ** (count - 300)); while (spent() < until); ${ANSWERING}`,
    },
  },
];

describe("a long run would visibly wear the service out if", () => {
  for (const { why, grown, aged, bug } of BUGS) {
    it.concurrent(why, async () => {
      const run = await soak({
        engine: ENGINES[0]!,
        seed: seedOf("planted bug"),
        name: `bug: ${grown.join()}`,
        root: plantBugs([bug]),
        ...BUG_RUN,
      });
      const wear = findWear(run);
      expect(wear.grown).toEqual(expect.arrayContaining([...grown]));
      if (aged) expect(wear.aged).toContain(aged);
    });
  }
});
