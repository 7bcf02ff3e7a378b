import { PlantStoreError } from "../domain/errors.ts";
import type { Bytes } from "../files/bytes.ts";

/**
 * How slowly bytes may arrive. Only the time spent waiting for them counts, not the time that they wait for the store.
 */
export type ArrivalLimits = Readonly<{
  /** Idle timeout, in milliseconds. */
  idleMs: number;
  /** How long the reader may wait in all, in milliseconds, before `bytesPerSecondMin` applies to each second of waiting. */
  graceMs: number;
  bytesPerSecondMin: number;
}>;

/** A process that is later than this stood still, as on a paused machine, in milliseconds. */
const PAUSE_MS_MIN = 1000;

/** How long it may then take to read what has arrived, in milliseconds. */
const READ_MS = 50;

/**
 * The same bytes, as long as they arrive. Throws `incomplete_body` if none arrive for too long, `too_slow` if too few
 * do, and `missing_body` if they end before the first. Releases the source.
 */
export async function* withIdleTimeout(
  bytes: Bytes,
  { idleMs, graceMs, bytesPerSecondMin }: ArrivalLimits,
): AsyncGenerator<Uint8Array, void, void> {
  const source = bytes[Symbol.asyncIterator]();
  let waitedMs = 0;
  let size = 0;
  try {
    for (let next: IteratorResult<Uint8Array>; ;) {
      const late = Promise.withResolvers<never>();
      const leftMs = Math.max(graceMs, (size * 1000) / bytesPerSecondMin) - waitedMs;
      const limitMs = Math.min(leftMs, idleMs);
      const refusal = leftMs < idleMs ? "too_slow" : "incomplete_body";
      const refuse = () => late.reject(new PlantStoreError(refusal));
      const since = performance.now();
      const didPause = () => performance.now() - since > limitMs + PAUSE_MS_MIN;
      // What came during a pause is read first. A client that trickles bytes gets no such time.
      const timer = setTimeout(() => (didPause() ? setTimeout(refuse, READ_MS) : refuse()), limitMs);
      try {
        next = await Promise.race([source.next(), late.promise]);
      } finally {
        clearTimeout(timer);
      }
      // Only now is it known of a chunked body (RFC 9112, 6).
      if (next.done && size === 0) throw new PlantStoreError("missing_body");
      if (next.done) return;
      // A pause is no time spent waiting for the sender.
      if (!didPause()) waitedMs += performance.now() - since;
      size += next.value.length;
      yield next.value;
    }
  } finally {
    // Not awaited: a stalled source does not end either.
    void source.return?.().catch(() => {});
  }
}

/** How often to ask whether bytes may still arrive, in milliseconds. */
const ASK_MS = 250;

/**
 * The same bytes until `ask` rejects, then throws its reason. Asks every ASK_MS, even while no bytes arrive. Releases
 * the source.
 */
export async function* withAccessCheck(bytes: Bytes, ask: () => Promise<void>): AsyncGenerator<Uint8Array, void, void> {
  const source = bytes[Symbol.asyncIterator]();
  let refusal: unknown;
  let refuse: (reason: unknown) => void = () => {};
  // One clock for all chunks: a timer for each would cost more than reading it.
  const clock = setInterval(() => {
    ask().catch((reason: unknown) => {
      refusal ??= reason;
      refuse(reason);
    });
  }, ASK_MS);
  try {
    for (;;) {
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        refuse = reject;
        source.next().then(resolve, reject);
      });
      if (refusal !== undefined) throw refusal;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    clearInterval(clock);
    // Not awaited: a stalled source does not end either.
    void source.return?.().catch(() => {});
  }
}
