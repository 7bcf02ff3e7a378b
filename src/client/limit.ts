export type Limit = ReturnType<typeof startLimit>;

/** Starts a timeout that can be restarted. The caller must clear it: a running timer keeps the process alive. */
export function startLimit(limitMs: number) {
  const controller = new AbortController();
  let runsMs = limitMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Starts over, from now. */
  function restart(newMs: number): void {
    clearTimeout(timer);
    runsMs = newMs;
    timer = setTimeout(() => controller.abort(new DOMException("", "TimeoutError")), Math.min(newMs, TIMER_MS_MAX));
  }
  restart(limitMs);
  return {
    /** Aborts when it expires. */
    signal: controller.signal,
    /** The timeout that is running or ran last, in milliseconds. */
    limitMs: () => runsMs,
    restart,
    /** Stops the clock. */
    clear: () => clearTimeout(timer),
  };
}

/** The longest delay that a timer takes, 24 days: a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
