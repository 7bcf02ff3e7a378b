import { quantile } from "../../../bench/quantile.ts";
import { inForm } from "../run-form.ts";
import { findGrowth } from "../vitals.ts";
import type { Vitals } from "../vitals.ts";
import type { Pulse } from "./subject.ts";
import type { Pair } from "./rounds.ts";

/** What was measured in a window of time, and what the service had at its end. */
export type Window = Vitals & Pulse;

/** What a long run left to judge. */
export type Run = Readonly<{ windows: readonly Window[]; pairs: readonly Pair[] }>;

/** How much more than in the middle third of a run it may be in the last: so many times as much, and so much more. */
const GROWTH_LIMITS: Readonly<Record<keyof Window, Readonly<{ times: number; more: number }>>> = {
  megabytes: { times: inForm(1.25, 1.15), more: 0 },
  files: { times: 1, more: 5 },
  threads: { times: 1, more: 3 },
  // A shared machine may have become slower meanwhile, but not as slow as this. What is finer the turns tell.
  p99Ms: inForm({ times: 2, more: 250 }, { times: 2, more: 5 }),
  cpuMs: inForm({ times: 2, more: 0.5 }, { times: 1.25, more: 0 }),
};
/**
 * How many times that of a new service it may be in the old one; more counts as soon as it is more than chance. The short form is short,
 * and runs beside whatever else a machine does.
 */
const AGE_LIMITS: Readonly<Record<keyof Pulse, number>> = { p99Ms: inForm(3, 1.1), cpuMs: inForm(2, 1.1) };

const GROWING = Object.keys(GROWTH_LIMITS) as (keyof Window)[];
const AGEING = Object.keys(AGE_LIMITS) as (keyof Pulse)[];

/** What grew from the middle third of the run to the last by more than it may, and what is worse in an old service than in a new one. */
export function findWear({ windows, pairs }: Run) {
  const grown = GROWING.filter((name) => {
    const { middle, last } = findGrowth(windows, name);
    return !(last <= middle * GROWTH_LIMITS[name].times + GROWTH_LIMITS[name].more);
  });
  const aged = AGEING.filter((name) => findLeast(findRatios(pairs, name)) > AGE_LIMITS[name]);
  return { grown, aged };
}

/** How many times that of the new service it was in the old one, in each pair of turns. Throws when a turn had no answer to measure. */
function findRatios(pairs: readonly Pair[], name: keyof Pulse): number[] {
  return pairs.map(({ old, young }) => {
    const ratio = old[name] / young[name];
    if (!(Number.isFinite(old[name]) && Number.isFinite(ratio)))
      throw new Error(`${name} was ${old[name]}, and ${young[name]} in a new service.`);
    return ratio;
  });
}

/**
 * What the median of ever more pairs would be at least, with a certainty of 95 % (the sign test): a pair in which the disk of a shared
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
