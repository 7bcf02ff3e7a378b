import { afterAll, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import type { Engine } from "../support/engines.ts";
import { seedOf } from "../support/random.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices } from "../support/service-process.ts";
import { readVitals } from "../support/vitals.ts";
import { takeTurns, findWear, tellWear } from "../support/soak/wear.ts";
import type { Turns, Window } from "../support/soak/wear.ts";
import { startSubject } from "../support/soak/subject.ts";

/** For an hour, set TEST_SOAK_SECONDS=3600. */
const SECONDS = inForm(7, Number(process.env["TEST_SOAK_SECONDS"] ?? 600));
const PER_SECOND = inForm(250, 1000);
const WINDOWS = inForm(15, 60);
/** On a shared machine, a single ratio of p99s says little. */
const TURNS: Turns = inForm({ warmUp: 2, count: 5, seconds: 0.5 }, { warmUp: 15, count: 60, seconds: 4 });
afterAll(killServices);

/** A service under mixed work at a fixed rate: measured window by window, then next to a new one with the same work. */
async function soak(engine: Engine) {
  const seed = seedOf("soak");
  const old = await startSubject({ engine, seed });
  const windows: Window[] = [];
  const windowMs = (SECONDS * 1000) / WINDOWS;
  const load = old.start(PER_SECOND);
  const started = performance.now();
  while (windows.length < WINDOWS) {
    await Bun.sleep(started + (windows.length + 1) * windowMs - performance.now());
    windows.push({ ...readVitals(old.service.pid), ...load.takePulse() });
    draw(engine.engine, (windows.length * windowMs) / 1000, windows.at(-1)!);
  }
  const perSecondAnswered = load.answered() / ((performance.now() - started) / 1000);
  await load.stop();
  const young = await startSubject({ engine, seed });
  const pairs = await takeTurns({ old, young }, { ...TURNS, perSecond: PER_SECOND });
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

/** In the short form both engines work at the same time, which leaves enough of two processors. */
const soakBoth = inForm(
  () => Promise.all(ENGINES.map(soak)),
  async () => {
    const runs = [];
    for (const engine of ENGINES) runs.push(await soak(engine));
    return runs;
  },
);

it(`${SECONDS} s of mixed work at a fixed rate keep memory, files, threads, latency and processor time a request flat on both engines, every response right, and the catalogue correct`, async () => {
  for (const [at, { statuses, wrong, perSecondAnswered, ...run }] of (await soakBoth()).entries()) {
    const { engine } = ENGINES[at]!;
    tell(`a long run, ${engine}`, `${Math.round(perSecondAnswered)} requests a second for ${SECONDS} s; ${tellWear(run)}`);
    expect({ engine, wrong }).toEqual({ engine, wrong: [] });
    expect({ engine, ...findWear(run) }).toEqual({ engine, grown: [], aged: [] });
    expect(perSecondAnswered).toBeGreaterThan(PER_SECOND * 0.9);
    expect(statuses).toEqual([0, 0]);
  }
});
