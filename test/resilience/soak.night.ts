import { afterAll, expect, it } from "bun:test";
import { cpuSecondsOf } from "../../bench/cputime.ts";
import { quantile } from "../../bench/quantile.ts";
import { ENGINES } from "../support/engines.ts";
import type { Engine } from "../support/engines.ts";
import { openRandom, seedOf } from "../support/random.ts";
import { openWire } from "../support/raw-http.ts";
import type { Wire } from "../support/raw-http.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, startOn } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { Work } from "../support/soak/work.ts";
import { findGrowth, readVitals } from "../support/vitals.ts";
import type { Vitals } from "../support/vitals.ts";

/** For an hour, set TEST_SOAK_SECONDS=3600. */
const SECONDS = inForm(7, Number(process.env["TEST_SOAK_SECONDS"] ?? 600));
const PER_SECOND = inForm(250, 1000);
const WINDOWS = inForm(15, 60);
const TICK_MS = 5;
/**
 * How many requests can be under way; what is due meanwhile waits, and its wait counts. Connections take turns, so that
 * all stay open.
 */
const WIRES = 48;
/** One request out of this many uses a new connection, which is closed after it. */
const PASSING_EVERY = 40;

/** What was measured in a window of time, and what the service held at its end. Times are milliseconds of a request. */
type Window = Vitals & Readonly<{ p99Ms: number; cpuMs: number }>;

/** The limits of growth from the middle third of a run to the last: a factor, and an amount. */
const LIMITS: Readonly<Record<keyof Window, Readonly<{ times: number; more: number }>>> = {
  megabytes: { times: inForm(1.25, 1.15), more: 0 },
  files: { times: 1, more: 5 },
  threads: { times: 1, more: 3 },
  // A shared machine may have become slower meanwhile, but not as slow as this.
  p99Ms: inForm({ times: 2, more: 250 }, { times: 2, more: 5 }),
  cpuMs: inForm({ times: 2, more: 0.5 }, { times: 1.25, more: 0 }),
};
const NAMES = Object.keys(LIMITS) as (keyof Window)[];

afterAll(killServices);

/** Work at a fixed rate, whether the responses keep up or not: people do not wait for each other. */
function startPace({ url, pid }: Service, work: Work) {
  const idle: Wire[] = Array.from({ length: WIRES }, () => openWire(url));
  const started = performance.now();
  const running = new Set<Promise<void>>();
  let [dueUntil, begun, answered, cpuSeconds] = [Infinity, 0, 0, cpuSecondsOf(pid)];
  let latenciesMs: number[] = [];

  async function run(wire: Wire, dueMs: number): Promise<void> {
    const isPassing = begun % PASSING_EVERY === 0;
    const used = isPassing ? openWire(url) : wire;
    await work.next(used);
    if (isPassing) used.close();
    latenciesMs.push(performance.now() - dueMs);
    answered += 1;
    idle.push(wire);
    beginDue();
  }

  /** Begins everything due by now, as far as there are connections. */
  function beginDue(): void {
    for (;;) {
      const dueMs = started + (begun * 1000) / PER_SECOND;
      const wire = dueMs <= Math.min(performance.now(), dueUntil) ? idle.shift() : undefined;
      if (!wire) return;
      begun += 1;
      const task = run(wire, dueMs).finally(() => running.delete(task));
      running.add(task);
    }
  }

  const timer = setInterval(beginDue, TICK_MS);
  return {
    answered: () => answered,
    /** Since the last call. The p99 is from the moment at which each request was due; infinite if none was answered. */
    takeTimes() {
      const [times, now] = [latenciesMs, cpuSecondsOf(pid)];
      const cpuMs = (1000 * (now - cpuSeconds)) / times.length;
      [latenciesMs, cpuSeconds] = [[], now];
      return { p99Ms: times.length === 0 ? Infinity : quantile(times, 0.99), cpuMs };
    },
    /** Resolves when everything due is answered. */
    async stop() {
      dueUntil = performance.now();
      clearInterval(timer);
      // Each that ends begins one that waited.
      while (running.size > 0) await Promise.all(running);
      for (const wire of idle) wire.close();
    },
  };
}

/** A service under mixed work, measured window by window. */
async function soak(engine: Engine) {
  const service = await startOn(engine);
  const work = new Work({ token: service.token, random: openRandom(seedOf("soak")) });
  const wire = openWire(service.url);
  await work.prepare(wire);
  const windows: Window[] = [];
  const windowMs = (SECONDS * 1000) / WINDOWS;
  const pace = startPace(service, work);
  const started = performance.now();
  while (windows.length < WINDOWS) {
    await Bun.sleep(started + (windows.length + 1) * windowMs - performance.now());
    windows.push({ ...readVitals(service.pid), ...pace.takeTimes() });
    // A line for people who watch.
    console.log(engine.engine, Math.round(performance.now() - started), JSON.stringify(windows.at(-1)));
  }
  const perSecond = pace.answered() / ((performance.now() - started) / 1000);
  await pace.stop();
  await work.settle(wire);
  wire.close();
  return { windows, perSecond, wrong: work.wrong, status: await service.end("SIGTERM") };
}

/** In the short form both engines work at the same time, which leaves enough of two processors. */
const soakBoth = inForm(
  () => Promise.all(ENGINES.map(soak)),
  async () => [await soak(ENGINES[0]!), await soak(ENGINES[1]!)],
);

it(`${SECONDS} s of mixed work at a fixed rate keep memory, files, threads, latency and processor time a request flat on both engines, every response right, and the catalogue correct`, async () => {
  for (const [at, { windows, status, wrong, perSecond }] of (await soakBoth()).entries()) {
    const { engine } = ENGINES[at]!;
    const growths = NAMES.map((name) => ({ name, ...findGrowth(windows, name) }));
    tell(`a long run, ${engine}`, { growths });
    const grown = growths.filter(({ name, middle, last }) => !(last <= middle * LIMITS[name].times + LIMITS[name].more));
    expect({ engine, wrong, grown }).toEqual({ engine, wrong: [], grown: [] });
    expect(perSecond).toBeGreaterThan(PER_SECOND * 0.9);
    expect(status).toBe(0);
  }
});
