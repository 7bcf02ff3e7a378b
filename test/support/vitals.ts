import { existsSync, readdirSync, readFileSync } from "node:fs";
import { median } from "../../bench/quantile.ts";

/** The resources of a process, as the kernel counts them. */
export type Vitals = Readonly<{ megabytes: number; files: number; threads: number }>;

/** Reads it from /proc, which only Linux has. Throws if there is no such process. */
export function readVitals(pid: number): Vitals {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return { megabytes: read("VmRSS") / 1024, files: readdirSync(`/proc/${pid}/fd`).length, threads: read("Threads") };
}

/** Samples a process now and then, from now on until it ends. */
export function watchVitals(pid: number, everyMs: number): Readonly<{ stop(): readonly Vitals[] }> {
  const samples: Vitals[] = [];
  const timer = setInterval(() => {
    if (existsSync(`/proc/${pid}/fd`)) samples.push(readVitals(pid));
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return samples;
    },
  };
}

/**
 * What grew in a process: the median of the last third of the samples, next to that of the third before. The first
 * third, in which it warms up, does not count.
 */
export function findGrowth<Name extends string>(samples: readonly Readonly<Record<Name, number>>[], name: Name): Growth {
  const third = Math.floor(samples.length / 3);
  const values = samples.map((sample) => sample[name]);
  return { middle: median(values.slice(third, 2 * third)), last: median(values.slice(2 * third)) };
}

type Growth = Readonly<{ middle: number; last: number }>;
