/** A timeout that can be restarted. `signal` aborts when it expires. */
export type Limit = Readonly<{
  signal: AbortSignal;
  /** The timeout that is running or ran last, in milliseconds. */
  limitMs: () => number;
  /** Starts over, from now. */
  restart: (limitMs: number) => void;
  /** Stops the clock. */
  clear: () => void;
}>;

/** Starts a timeout. The caller must clear it: a running timer keeps the process alive. */
export function startLimit(limitMs: number): Limit {
  const controller = new AbortController();
  let runsMs = limitMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function restart(newMs: number): void {
    clearTimeout(timer);
    runsMs = newMs;
    timer = setTimeout(() => controller.abort(new DOMException("", "TimeoutError")), Math.min(newMs, TIMER_MS_MAX));
  }
  restart(limitMs);
  return { signal: controller.signal, limitMs: () => runsMs, restart, clear: () => clearTimeout(timer) };
}

/** The longest delay that a timer takes, 24 days: a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
