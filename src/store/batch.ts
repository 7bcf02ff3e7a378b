import { PlantStoreError } from "../errors.ts";
import type { NewPlant } from "../plant.ts";

/** What became of one create: stored now, there already as this very plant, or refused because the id names another. */
export type Outcome = "created" | "same" | "in_use";

/**
 * Group commit: what waits while one commit runs goes into the next, so that one fsync serves many requests, and every
 * request still gets its answer after its own commit.
 */
export type Batch = Readonly<{
  /** Resolves with the outcome that the commit gave for this plant. Rejects with `overloaded` or `store_unavailable` past the limits. */
  add(plant: NewPlant): Promise<Outcome>;
  /** Refuses what waits with `draining`, and resolves once the running commit has ended. */
  close(): Promise<void>;
}>;

type BatchOptions = Readonly<{
  /** Commits all plants or none, and gives one outcome a plant in the same order. One call runs at a time. */
  commit: (plants: readonly NewPlant[]) => Promise<readonly Outcome[]>;
  /** How many plants may wait. */
  queueMax: number;
  /** Longest time from `add` to its answer, in milliseconds. */
  waitMs: number;
  /** A clock that never goes back, in milliseconds. */
  now: () => number;
}>;

type Entry = Readonly<{
  plant: NewPlant;
  since: number;
  resolve: (outcome: Outcome) => void;
  reject: (reason: unknown) => void;
}>;

export function createBatch({ commit, queueMax, waitMs, now }: BatchOptions): Batch {
  let waiting: Entry[] = [];
  let running: readonly Entry[] = [];
  let round: Promise<void> | undefined;
  let watch: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  async function run(): Promise<void> {
    // One turn of the event loop: the requests that arrived together share the first commit too.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      running = waiting;
      waiting = [];
      await settle(running);
    }
    running = [];
    round = undefined;
  }

  async function settle(entries: readonly Entry[]): Promise<void> {
    try {
      const outcomes = await commit(entries.map(({ plant }) => plant));
      entries.forEach((entry, at) => entry.resolve(outcomes[at]!));
    } catch (reason) {
      for (const entry of entries) entry.reject(reason);
    }
  }

  /** Ends what has waited too long. A commit that was given up may still succeed: its outcome is unknown. */
  function expire(): void {
    watch = undefined;
    const oldest = now() - waitMs;
    for (const entry of running) if (entry.since < oldest) entry.reject(new PlantStoreError("store_unavailable"));
    const late = waiting.findIndex(({ since }) => since >= oldest);
    for (const entry of waiting.splice(0, late === -1 ? waiting.length : late)) entry.reject(new PlantStoreError("overloaded"));
    if (round) startWatch();
  }

  function startWatch(): void {
    watch ??= setTimeout(expire, waitMs / 4);
    watch.unref();
  }

  return {
    add(plant) {
      if (isClosed) return Promise.reject(new PlantStoreError("draining"));
      if (waiting.length >= queueMax) return Promise.reject(new PlantStoreError("overloaded"));
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
      waiting.push({ plant, since: now(), resolve, reject });
      round ??= run();
      startWatch();
      return promise;
    },
    async close() {
      isClosed = true;
      for (const entry of waiting.splice(0)) entry.reject(new PlantStoreError("draining"));
      await round;
    },
  };
}
