import { cpuSecondsOf } from "../../../bench/cputime.ts";
import type { Engine } from "../engines.ts";
import { openRandom } from "../random.ts";
import { startOn } from "../service-process.ts";
import { openWire } from "../raw-http.ts";
import { createWork } from "./work.ts";
import { quantile } from "../../../bench/quantile.ts";
import type { Wire } from "../raw-http.ts";
import type { Work } from "./work.ts";

/** The p99, and the processor time of each request, in milliseconds. */
export type Pulse = Readonly<{ p99Ms: number; cpuMs: number }>;

export type Subject = Awaited<ReturnType<typeof startSubject>>;

/** A new service, and the work that can be done on it. */
export async function startSubject({ engine, seed }: Readonly<{ engine: Engine; seed: number }>) {
  const service = await startOn(engine);
  const work = createWork({ token: service.token, random: openRandom(seed) });
  const wire = openWire(service.url);
  await work.prepare(wire);
  return {
    service,
    wrong: work.wrong,
    start: (perSecond: number) => startLoad(startPace({ url: service.url, perSecond, work }), service.pid),
    /** Says in `wrong` what is wrong with the catalogue, and resolves with the exit status. */
    async end(): Promise<number | null> {
      await work.settle(wire);
      wire.close();
      return service.end("SIGTERM");
    },
  };
}

/** Work at a fixed rate, and what it costs the process. */
function startLoad({ answered, takeP99Ms, stop }: Pace, pid: number) {
  const read = () => ({ answered: answered(), cpuSeconds: cpuSecondsOf(pid) });
  let before = read();
  return {
    answered,
    stop,
    /** Since the last call. */
    takePulse(): Pulse {
      const now = read();
      const cpuMs = (1000 * (now.cpuSeconds - before.cpuSeconds)) / (now.answered - before.answered);
      before = now;
      return { p99Ms: takeP99Ms(), cpuMs };
    },
  };
}

/** Work at a fixed rate, whether the responses keep up or not: people do not wait for each other. */
export type Pace = Readonly<{
  answered(): number;
  /**
   * The p99 since the last call, in milliseconds, from the moment at which each request was due. Infinity if none was
   * answered.
   */
  takeP99Ms(): number;
  /** Nothing more is due from now on. Resolves when everything due is answered. */
  stop(): Promise<void>;
}>;

const TICK_MS = 5;
/**
 * How many requests can be under way; what is due meanwhile waits, and its wait counts. Connections take turns, so that
 * all stay open.
 */
const WIRES = 48;
/** One request out of this many uses a new connection, which is closed after it. */
const PASSING_EVERY = 40;

function startPace({ url, perSecond, work }: Readonly<{ url: string; perSecond: number; work: Work }>): Pace {
  const idle: Wire[] = Array.from({ length: WIRES }, () => openWire(url));
  const started = performance.now();
  const running = new Set<Promise<void>>();
  let dueUntil = Number.POSITIVE_INFINITY;
  let begun = 0;
  let answered = 0;
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
      const dueMs = started + (begun * 1000) / perSecond;
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
    takeP99Ms() {
      const p99Ms = latenciesMs.length === 0 ? Number.POSITIVE_INFINITY : quantile(latenciesMs, 0.99);
      latenciesMs = [];
      return p99Ms;
    },
    async stop() {
      dueUntil = performance.now();
      clearInterval(timer);
      // Each that ends begins one that waited.
      while (running.size > 0) await Promise.all(running);
      for (const wire of idle) wire.close();
    },
  };
}
