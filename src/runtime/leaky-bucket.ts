export type Rate = ReturnType<typeof createRate>;
export type Allowance = ReturnType<Rate["take"]>;

const MINUTE_MS = 60_000;

/**
 * How many owners are remembered. The one that was seen least recently is forgotten, and starts over.
 *
 * @limit connections: owners whose rates of requests are remembered
 */
const OWNERS_MAX = 10_000;

/**
 * How often each owner may do something: so many times a minute, at once or spread out. A leaky bucket for each owner,
 * stored as the time at which it will be empty (GCRA: ITU-T I.371, annex A).
 */
export function createRate(perMinute: number, now: () => number) {
  const emptyAt = new Map<string, number>();
  const eachMs = MINUTE_MS / perMinute;
  return {
    perMinute,
    /** Counts one more, if it is allowed. */
    take(owner: string) {
      const time = now();
      const level = Math.max(0, (emptyAt.get(owner) ?? 0) - time);
      emptyAt.delete(owner);
      const isAllowed = level + eachMs <= MINUTE_MS + 1e-6;
      const after = isAllowed ? level + eachMs : level;
      for (const oldest of emptyAt.keys()) {
        if (emptyAt.size < OWNERS_MAX) break;
        emptyAt.delete(oldest);
      }
      emptyAt.set(owner, time + after);
      const resetMs = isAllowed ? after : level + eachMs - MINUTE_MS;
      return {
        isAllowed,
        /** How many more may follow at once. */
        remaining: Math.floor((MINUTE_MS - after) / eachMs + 1e-6),
        /** Seconds until all of them are allowed again; after a refusal, until the next one is. */
        resetSeconds: Math.max(1, Math.ceil(resetMs / 1000)),
      };
    },
  };
}
