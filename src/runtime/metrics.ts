import { withTimeLimit } from "./time-limit.ts";

type About = Readonly<{
  name: `${"plant_store" | "process"}_${string}`;
  /** One sentence. */
  help: string;
  /** The names of the labels. Their values must be few: each set of them is never removed. */
  labels?: readonly string[];
}>;

/** Add to `value`: this costs a request a few nanoseconds, where a call of a library takes half a microsecond. */
type Counter = { value: number };

export type Histogram = Readonly<{ observe(value: number): void }>;

/** Undefined means unknown now. */
type Reading = number | undefined | readonly Sample[];

type Labels = Readonly<Record<string, string>>;

/** `suffix` follows the name of the family: `_bucket`, for example. */
export type Sample = Readonly<{ suffix?: string; labels: Labels; value: number }>;

/** All samples of one name. The name of a counter ends in `_total`. */
export type Family = Readonly<{ name: string; kind: "counter" | "gauge" | "histogram"; help: string; samples: readonly Sample[] }>;

/** Upper bounds for durations, in seconds: from a commit on a fast disk to a request that was given up. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const;

/** How long one gauge may take, in milliseconds: a database that hangs must not hide what else is known. */
const READ_MS_MAX = 2000;

export type Metrics = ReturnType<typeof createMetrics>;

/** What the service measures about itself. Names and units follow prometheus.io/docs/practices/naming. */
export function createMetrics() {
  const reads = new Map<string, () => Promise<Family>>();

  function add({ name, help }: About, kind: Family["kind"], read: () => readonly Sample[] | Promise<readonly Sample[]>): void {
    if (reads.has(name)) throw new Error(`The metric ${name} is there already.`);
    reads.set(name, async () => ({ name, kind, help, samples: await read() }));
  }

  return {
    /** Adds a number that only grows, one for each set of label values. Returns what finds the one to add to. */
    counter(about: About): (...values: string[]) => Counter {
      const counters = keepByLabels<Counter>(about.labels ?? [], () => ({ value: 0 }));
      add(about, "counter", () => counters.all().map(({ labels, kept }) => ({ labels, value: kept.value })));
      return counters.of;
    },
    /** Adds a distribution, one for each set of label values. Returns what finds the one to tell. */
    histogram(about: About & Readonly<{ bounds: readonly number[] }>): (...values: string[]) => Histogram {
      const histograms = keepByLabels(about.labels ?? [], () => createHistogram(about.bounds));
      add(about, "histogram", () => histograms.all().flatMap(({ labels, kept }) => kept.read(labels)));
      return histograms.of;
    },
    /** Adds a number that only grows, and is read when someone asks for it. */
    counterOf: (about: Omit<About, "labels">, read: () => Reading) => add(about, "counter", () => toSamples(read())),
    /** Adds a number that is read when someone asks for it. */
    gauge: (about: Omit<About, "labels">, read: () => Reading | Promise<Reading>) =>
      add(about, "gauge", async () => toSamples(await inTime(read))),
    /** All that is measured now. A gauge that fails, or takes longer than READ_MS_MAX, is left out. */
    read: async () => Promise.all(Array.from(reads.values(), (read) => read())),
  };
}

/** One of a kind for each set of label values. */
function keepByLabels<Kept>(names: readonly string[], make: () => Kept) {
  const all = new Map<string, Readonly<{ labels: Labels; kept: Kept }>>();
  return {
    all: () => [...all.values()],
    of(...values: string[]): Kept {
      const key = values.join("\n");
      const known = all.get(key);
      if (known) return known.kept;
      const labels = Object.fromEntries(names.map((name, at) => [name, values[at]!]));
      const kept = make();
      all.set(key, { labels, kept });
      return kept;
    },
  };
}

function createHistogram(bounds: readonly number[]): Histogram & Readonly<{ read(labels: Labels): Sample[] }> {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    observe(value) {
      let at = 0;
      while (at < bounds.length && value > bounds[at]!) at += 1;
      counts[at]! += 1;
      sum += value;
    },
    read(labels) {
      let count = 0;
      const buckets = Array.from(counts, (some, at): Sample => {
        count += some;
        return { suffix: "_bucket", labels: { ...labels, le: at < bounds.length ? String(bounds[at]) : "+Inf" }, value: count };
      });
      return [...buckets, { suffix: "_sum", labels, value: sum }, { suffix: "_count", labels, value: count }];
    },
  };
}

function toSamples(reading: Reading): readonly Sample[] {
  if (reading === undefined) return [];
  return typeof reading === "number" ? [{ labels: {}, value: reading }] : reading;
}

async function inTime(read: () => Reading | Promise<Reading>): Promise<Reading> {
  try {
    return await withTimeLimit(READ_MS_MAX, Promise.resolve(read()), () => undefined);
  } catch {
    return undefined;
  }
}
