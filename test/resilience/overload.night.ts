import { availableParallelism } from "node:os";
import { afterEach, describe, expect, it } from "bun:test";
import { median } from "../../bench/quantile.ts";
import { ENGINES, flagsOf } from "../support/engines.ts";
import { arrive } from "../support/arrivals.ts";
import type { Arrivals, Arrived } from "../support/arrivals.ts";
import { inForm, tell } from "../support/run-form.ts";
import { killServices, startService } from "../support/service-process.ts";
import type { Service } from "../support/service-process.ts";
import { readVitals } from "../support/vitals.ts";

afterEach(killServices);

const SECONDS = inForm(2, 10);
/** More rounds, with the median of all, if the promise seems broken: others may have used the machine. */
const ROUNDS = inForm(2, 3);
const ROUNDS_MAX = 7;

/** The load, as a multiple of the service's capacity. */
const FACTORS = inForm([5], [2, 5]);

/** Enough clients to keep the service busy, and more than it can serve. */
const BUSY = 128;
const CROWD = 2000;

/**
 * The promise at five times capacity. The short form runs on busy machines too: it finds what breaks, the long one
 * finds what degrades.
 */
const GOODPUT_MIN = inForm(0.6, 0.9);
const P99_TIMES_MAX = inForm(10, 3);
const MEMORY_TIMES_MAX = inForm(2, 1.5);

/** A refusal is held back for a second, so that clients who repeat at once cost one a second. In milliseconds. */
const REFUSED_MS_MIN = 900;

/** Shorter times are within the noise of a busy machine, where any process may wait that long for a processor. */
const P99_MS_ALWAYS = 20;

/** What a service did at its capacity, at 0.8 of it, and at a multiple of it. */
type Round = Readonly<{ peak: number; calmP99Ms: number; calmMemory: number; crowd: ReadonlyMap<number, Crowd> }>;
type Crowd = Arrived & Readonly<{ memory: number; livenessMsMax: number }>;

/** The service and its clients have a core each, if there are two. */
function onCore(core: 0 | 1): string[] {
  return availableParallelism() > 1 ? ["taskset", "--cpu-list", String(core)] : [];
}

/** Polls /livez all the time: the longest response time, and the most memory that the service had. */
function watch({ url, pid }: Service): () => Promise<Readonly<{ livenessMsMax: number; memory: number }>> {
  let longest = 0;
  let memory = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const begun = performance.now();
      const { status } = await fetch(`${url}/livez`);
      longest = Math.max(longest, status === 200 ? performance.now() - begun : Infinity);
      memory = Math.max(memory, readVitals(pid).megabytes);
      await Bun.sleep(100);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return { livenessMsMax: longest, memory };
  };
}

type Load = Pick<Arrivals, "rate" | "connections">;

/** So many that a free connection gets a request at once. */
const FULL: Load = { rate: 100_000, connections: BUSY };

let nextId = 0;

/** Creates of new plants, for some seconds. */
function send({ url, token }: Service, load: Load): Promise<Arrived> {
  nextId += 10_000_000;
  return arrive({ url, token, seconds: SECONDS, firstId: nextId, ...load }, onCore(1));
}

async function runRound(service: Service): Promise<Round> {
  const peak = goodputOf(await send(service, FULL));
  const calm = await send(service, { rate: Math.trunc(peak * 0.8), connections: CROWD });
  const calmMemory = readVitals(service.pid).megabytes;
  const crowd = new Map<number, Crowd>();
  for (const factor of FACTORS) {
    const endWatch = watch(service);
    const arrived = await send(service, { rate: Math.trunc(peak * factor), connections: CROWD });
    crowd.set(factor, { ...arrived, ...(await endWatch()) });
  }
  return { peak, calmP99Ms: calm.p99Ms, calmMemory, crowd };
}

function goodputOf({ statuses }: Arrived): number {
  return (statuses["200"] ?? 0) / SECONDS;
}

async function measure(flags: readonly string[]): Promise<Round[]> {
  const service = await startService({ flags, under: onCore(0) });
  // Warm-up.
  await send(service, FULL);
  const rounds: Round[] = [];
  const seemsBroken = () => FACTORS.some((factor) => findBroken(rounds, factor).length > 0);
  for (let round = 1; round <= ROUNDS || (round <= ROUNDS_MAX && seemsBroken()); round += 1) rounds.push(await runRound(service));
  return rounds;
}

/** The medians of the rounds. */
function figuresOf(rounds: readonly Round[], factor: number) {
  const of = (figure: (round: Round, crowd: Crowd) => number) => median(rounds.map((round) => figure(round, round.crowd.get(factor)!)));
  return {
    peak: of(({ peak }) => peak),
    goodput: of(({ peak }, crowd) => goodputOf(crowd) / peak),
    p99Ms: of((_, crowd) => crowd.p99Ms),
    calmP99Ms: of(({ calmP99Ms }) => calmP99Ms),
    memory: of(({ calmMemory }, crowd) => crowd.memory / calmMemory),
    refused: of((_, { statuses }) => (statuses["503"] ?? 0) / SECONDS),
    refusedP99Ms: of((_, { refusedP99Ms }) => refusedP99Ms),
    turnedAway: of((_, { turnedAway }) => turnedAway / SECONDS),
  };
}

/** What breaks the promise, in a sentence each. */
function findBroken(rounds: readonly Round[], factor: number): string[] {
  const { goodput, p99Ms, calmP99Ms, memory, refusedP99Ms } = figuresOf(rounds, factor);
  return [
    ...(refusedP99Ms >= REFUSED_MS_MIN ? [] : [`refusals are sent after ${Math.round(refusedP99Ms)} ms`]),
    ...(goodput >= GOODPUT_MIN ? [] : [`the goodput is ${goodput.toFixed(2)} of the peak`]),
    ...(p99Ms <= Math.max(P99_MS_ALWAYS, P99_TIMES_MAX * calmP99Ms)
      ? []
      : [`the p99 is ${(p99Ms / calmP99Ms).toFixed(1)} times that at 0.8`]),
    ...(memory <= MEMORY_TIMES_MAX ? [] : [`the memory is ${memory.toFixed(2)} times that at 0.8`]),
  ];
}

for (const { engine, openFlags } of ENGINES) {
  describe(`on ${engine}, five times as many creates as its capacity`, () => {
    it("do not slow it down, and the excess is answered 503 with Retry-After", async () => {
      const rounds = await measure(flagsOf(await openFlags()));
      for (const { crowd } of rounds) {
        for (const { statuses, broken, withoutRetryAfter, livenessMsMax } of crowd.values()) {
          expect(Object.keys(statuses).toSorted()).toEqual(["200", "503"]);
          expect({ broken, withoutRetryAfter }).toEqual({ broken: 0, withoutRetryAfter: 0 });
          expect(livenessMsMax).toBeLessThan(1000);
        }
      }
      for (const factor of FACTORS) tell(`overload, ${factor} times capacity`, { rounds: rounds.length, ...figuresOf(rounds, factor) });
      for (const factor of FACTORS) expect(findBroken(rounds, factor)).toEqual([]);
    });
  });
}
