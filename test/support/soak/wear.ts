import { quantile } from "../../../bench/quantile.ts";
import { inForm } from "../run-form.ts";
import { findGrowth } from "../vitals.ts";
import type { Vitals } from "../vitals.ts";
import type { Pulse, Subject } from "./subject.ts";

/** What was measured in a window of time, and what the service held at its end. */
export type Window = Vitals & Pulse;

/** The measurements of a long run. */
export type Run = Readonly<{ windows: readonly Window[]; pairs: readonly Pair[] }>;

/** The limits of growth from the middle third of a run to the last: a factor, and an amount. */
const GROWTH_LIMITS: Readonly<Record<keyof Window, Readonly<{ times: number; more: number }>>> = {
  megabytes: { times: inForm(1.25, 1.15), more: 0 },
  files: { times: 1, more: 5 },
  threads: { times: 1, more: 3 },
  // A shared machine may have become slower meanwhile, but not as slow as this. The turns measure more precisely.
  p99Ms: inForm({ times: 2, more: 250 }, { times: 2, more: 5 }),
  cpuMs: inForm({ times: 2, more: 0.5 }, { times: 1.25, more: 0 }),
};
/**
 * The limit of the ratio of the old service to a new one; more counts as soon as it is more than chance. The short form
 * is short, and runs on busy machines.
 */
const AGE_LIMITS: Readonly<Record<keyof Pulse, number>> = { p99Ms: inForm(3, 1.1), cpuMs: inForm(2, 1.1) };

const GROWING = Object.keys(GROWTH_LIMITS) as (keyof Window)[];
const AGEING = Object.keys(AGE_LIMITS) as (keyof Pulse)[];

/**
 * What grew too much from the middle third of the run to the last, and what is worse in an old service than in a new
 * one.
 */
export function findWear({ windows, pairs }: Run) {
  const grown = GROWING.filter((name) => {
    const { middle, last } = findGrowth(windows, name);
    return !(last <= middle * GROWTH_LIMITS[name].times + GROWTH_LIMITS[name].more);
  });
  const aged = AGEING.filter((name) => findLeast(findRatios(pairs, name)) > AGE_LIMITS[name]);
  return { grown, aged };
}

/** The ratio of the old service to the new one, in each pair of turns. Throws if a turn had no response to measure. */
function findRatios(pairs: readonly Pair[], name: keyof Pulse): number[] {
  return pairs.map(({ old, young }) => {
    const ratio = old[name] / young[name];
    if (!(Number.isFinite(old[name]) && Number.isFinite(ratio)))
      throw new Error(`${name} was ${old[name]}, and ${young[name]} in a new service.`);
    return ratio;
  });
}

/**
 * A lower bound of the median ratio, with a confidence of 95 % (the sign test): a pair in which the disk of a shared
 * machine stalled is several times off.
 */
function findLeast(ratios: readonly number[]): number {
  return quantile(ratios, Math.max(0, 0.5 - 0.82 / Math.sqrt(ratios.length)));
}

export function tellWear({ windows, pairs }: Run): string {
  const growth = GROWING.map((name) => {
    const { middle, last } = findGrowth(windows, name);
    return `${name} ${middle.toFixed(2)}, then ${last.toFixed(2)}`;
  });
  const age = AGEING.map((name) => {
    const ratios = findRatios(pairs, name);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2));
    return `${name} ${middle} [${low}-${high}] of that of a new service, at least ${findLeast(ratios).toFixed(2)}`;
  });
  return [...growth, ...age].join("; ");
}

/**
 * How many pairs of turns there are, and how long a turn takes. Those before them, in which the new service warms up,
 * do not count.
 */
export type Turns = Readonly<{ warmUp: number; count: number; seconds: number }>;

/** The measurements of an old and a new service in two neighbouring turns. */
export type Pair = Readonly<{ old: Pulse; young: Pulse }>;

/** At the beginning of a turn all connections are opened and all tokens looked up: that is not compared. */
const LEAD_MS = 250;
/** The index of names follows the changes a quarter of a second later, which must not burden the next turn. */
const PAUSE_MS = 500;

/**
 * If the last third of an hour is slow, it may be the machine: its speed drifts by a third. So the old service and a
 * new one take turns, a few seconds each, and only the difference between two neighbouring turns counts.
 */
export async function takeTurns(
  { old, young }: Readonly<{ old: Subject; young: Subject }>,
  { warmUp, count, seconds, perSecond }: Turns & Readonly<{ perSecond: number }>,
): Promise<Pair[]> {
  async function turn({ start }: Subject): Promise<Pulse> {
    const load = start(perSecond);
    await Bun.sleep(LEAD_MS);
    load.takePulse();
    await Bun.sleep(seconds * 1000);
    await load.stop();
    const pulse = load.takePulse();
    await Bun.sleep(PAUSE_MS);
    return pulse;
  }

  const pairs: Pair[] = [];
  while (pairs.length < warmUp + count) {
    const isOldFirst = pairs.length % 2 === 0;
    const first = await turn(isOldFirst ? old : young);
    const second = await turn(isOldFirst ? young : old);
    pairs.push(isOldFirst ? { old: first, young: second } : { old: second, young: first });
  }
  return pairs.slice(warmUp);
}
