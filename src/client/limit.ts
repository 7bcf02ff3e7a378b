/** A limit in time that can be set anew. `signal` aborts once it is reached. */
export type Limit = Readonly<{
  signal: AbortSignal;
  /** The limit that runs, or ran last, in milliseconds. */
  limitMs: () => number;
  /** Runs from now on. */
  restart: (limitMs: number) => void;
  /** Stops the clock. */
  clear: () => void;
}>;

/** Starts a limit. Whoever starts it must clear it: a timer that runs keeps the process alive. */
export function startLimit(limitMs: number): Limit {
  const controller = new AbortController();
  let runsMs = limitMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function restart(newMs: number): void {
    clearTimeout(timer);
    runsMs = newMs;
    timer = setTimeout(() => controller.abort(), Math.min(newMs, TIMER_MS_MAX));
  }
  restart(limitMs);
  return { signal: controller.signal, limitMs: () => runsMs, restart, clear: () => clearTimeout(timer) };
}

/** What a timer can count, 24 days: a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
