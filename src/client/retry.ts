import { ConnectionError, ServiceError, TimeoutError, UnexpectedAnswerError } from "./errors.ts";

export type RetryPolicy = Readonly<{
  /** How long all tries and the pauses between them may take. */
  timeoutMs: number;
  /** How long one try may take. */
  tryTimeoutMs: number;
  /** How many tries may follow the first. */
  retries: number;
}>;

/**
 * Calls `attempt` with the time it may take, and after a transient failure again, following a pause. Throws what the
 * last try threw.
 */
export async function withRetries<Result>(
  { timeoutMs, tryTimeoutMs, retries }: RetryPolicy,
  attempt: (limitMs: number) => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const endsAt = performance.now() + timeoutMs;
  for (let failed = 0; ; failed += 1) {
    try {
      return await attempt(Math.ceil(Math.min(tryTimeoutMs, endsAt - performance.now())));
    } catch (thrown) {
      const waitMs = pauseMs(thrown, failed);
      if (waitMs === undefined || failed >= retries || performance.now() + waitMs >= endsAt) throw thrown;
      await pause(waitMs, signal);
    }
  }
}

const PAUSE_MS_BASE = 100;
const PAUSE_MS_MAX = 5_000;
/** Too many requests; bad gateway and gateway timeout of a proxy; "not now" of the service or a proxy. */
const TRANSIENT_STATUSES = [429, 502, 503, 504];

/**
 * How long to wait after this failure; undefined if another try would fail the same way. Full jitter keeps clients that
 * failed together from coming back together
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). It is added to the wait that the service
 * asks for.
 */
function pauseMs(thrown: unknown, failed: number): number | undefined {
  const jitterMs = Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS_BASE * 2 ** failed);
  if (thrown instanceof ConnectionError || thrown instanceof TimeoutError) return jitterMs;
  if (!(thrown instanceof ServiceError || thrown instanceof UnexpectedAnswerError)) return undefined;
  return TRANSIENT_STATUSES.includes(thrown.status) ? (thrown.retryAfterMs ?? 0) + jitterMs : undefined;
}

/** Throws the reason of `signal` as soon as it aborts. */
export async function pause(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(wake, waitMs);
    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    }
    signal?.addEventListener("abort", wake);
  });
  signal?.throwIfAborted();
}
