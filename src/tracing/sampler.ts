import type { Metrics } from "../runtime/metrics.ts";
import type { RemoteParent } from "./trace-context.ts";

export type SamplerSettings = Readonly<{
  /** Whether callers that have a trace decide about our part of it. */
  isParentBased: boolean;
  /** The share of all other requests that is recorded. */
  ratio: number;
}>;

/** Who wants a request recorded: we ourselves, or its caller. */
export type Wish = "own" | "caller";

type SamplerOptions = SamplerSettings & Readonly<{ metrics: Metrics; random: () => number; now: () => number }>;

/**
 * How many requests are recorded in a second, whatever is sent. So the cost is bounded, and anyone may wish: callers
 * keep out no one but callers, and strangers no one but strangers.
 */
const PER_SECOND = {
  /** @limit traces: traced requests a second that the sampler chose */
  own: 100,
  /** @limit traces: traced requests a second that their callers wish */
  caller: 100,
  /** @limit traces: traced requests a second without a valid token */
  stranger: 20,
} as const;

export type Sampler = ReturnType<typeof createSampler>;

/** Decides which requests are recorded. */
export function createSampler({ isParentBased, ratio, metrics, random, now }: SamplerOptions) {
  const limited = metrics.counter({
    name: "plant_store_traces_limited_total",
    help: "Requests that were not traced because there were too many: own choice, the caller's wish, strangers.",
    labels: ["who"],
  });
  const count = (who: keyof typeof PER_SECOND) => ({ taken: 0, limited: limited(who) });
  const counted = { own: count("own"), caller: count("caller"), stranger: count("stranger") };
  let second = 0;

  function hasRoom(who: keyof typeof counted): boolean {
    const current = Math.floor(now() / 1000);
    if (current !== second) for (const one of Object.values(counted)) one.taken = 0;
    second = current;
    const isFull = counted[who].taken >= PER_SECOND[who];
    if (isFull) counted[who].limited.value += 1;
    return !isFull;
  }

  return {
    /** Undefined if no one wants this request recorded, or too many were. */
    wishOf(parent: RemoteParent | undefined): Wish | undefined {
      if (parent && isParentBased) return parent.isSampled ? "caller" : undefined;
      const isChosen = (parent ? shareOf(parent.traceId) : random()) < ratio;
      // Looked at here already, so that those who are too many cost nothing.
      return isChosen && hasRoom("own") ? "own" : undefined;
    },
    /** Counts one more, if there is room for it. A stranger has no valid token. */
    admits(who: Wish | "stranger"): boolean {
      if (!hasRoom(who)) return false;
      counted[who].taken += 1;
      return true;
    },
  };
}

/** At least 0, less than 1, and the same for all who see this trace: its last 56 bits are random (Trace Context 2, 3.2.2.3). */
function shareOf(traceId: string): number {
  return (2 ** 56 - 1 - Number.parseInt(traceId.slice(-14), 16)) / 2 ** 56;
}
