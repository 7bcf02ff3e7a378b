import { PlantStoreError } from "../errors.ts";
import type { NewPlant } from "../plant.ts";

/** One line of a file, counted from 1: a plant, or why it is none. */
export type Row = Readonly<{ line: number; plant: NewPlant }> | Readonly<{ line: number; refusal: PlantStoreError }>;

/** A file as it comes, in pieces that are cut anywhere. */
export type Bytes = AsyncIterable<Uint8Array>;

/** The rows of a file, some at a time, so that a file of any length takes constant memory. */
export type Rows = AsyncGenerator<readonly Row[], void, void>;

export type ReadOptions = Readonly<{
  /** Checks what a line holds as the contract has it, and throws a PlantStoreError. */
  parsePlant: (value: unknown) => NewPlant;
  /** A longer line is refused. */
  lineBytesMax: number;
  /** Called once for each column, of the first hundred, that nothing is read from. */
  onUnused: (column: string) => void;
}>;

/** How much is read at a stretch: when it is all lines of one letter, each refused for its own reason, that takes about 10 ms. */
const PIECE_BYTES = 8_192;

/** The same bytes in small pieces: a runtime that has fallen behind hands out megabytes at once. */
export async function* inPieces(bytes: Bytes): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}

/** How slowly bytes may come. Only time in which somebody waits for them counts, not that in which they wait for the store. */
export type Patience = Readonly<{
  /** How long none need come, in milliseconds. */
  idleMs: number;
  /** How long the reader waits in all, in milliseconds, before `bytesPerSecondMin` holds for each second of waiting. */
  graceMs: number;
  bytesPerSecondMin: number;
}>;

/**
 * The same bytes as long as they come. Throws `incomplete_body` when none does for too long, `too_slow` when they are too few,
 * `missing_body` when they end before the first, and lets go of the source.
 */
export async function* whileMoving(bytes: Bytes, { idleMs, graceMs, bytesPerSecondMin }: Patience): AsyncGenerator<Uint8Array, void, void> {
  const source = bytes[Symbol.asyncIterator]();
  let waitedMs = 0;
  let size = 0;
  try {
    for (let next: IteratorResult<Uint8Array>; ;) {
      const late = Promise.withResolvers<never>();
      const leftMs = Math.max(graceMs, (size * 1000) / bytesPerSecondMin) - waitedMs;
      const refusal = leftMs < idleMs ? "too_slow" : "incomplete_body";
      const timer = setTimeout(() => late.reject(new PlantStoreError(refusal)), Math.min(leftMs, idleMs));
      const since = performance.now();
      try {
        next = await Promise.race([source.next(), late.promise]);
      } finally {
        clearTimeout(timer);
      }
      // Only here it is known of a body in chunks (RFC 9112, 6).
      if (next.done && size === 0) throw new PlantStoreError("missing_body");
      if (next.done) return;
      waitedMs += performance.now() - since;
      size += next.value.length;
      yield next.value;
    }
  } finally {
    // Not waited for: a source that stands still does not end either.
    void source.return?.().catch(() => {});
  }
}

/** How often it is asked whether bytes may still come, in milliseconds. */
const ASK_MS = 250;

/** The same bytes as long as `ask` does not reject; it is asked every ASK_MS, also while none come. Throws what it rejects with, and lets go of the source. */
export async function* whileAllowed(bytes: Bytes, ask: () => Promise<void>): AsyncGenerator<Uint8Array, void, void> {
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
    // Not waited for: a source that stands still does not end either.
    void source.return?.().catch(() => {});
  }
}

/** The refusal of a line that is longer than may be. */
export function tooLong(bytesMax: number): PlantStoreError {
  return new PlantStoreError("body_too_large", { message: `The line is longer than ${bytesMax} bytes: send a shorter one.` });
}

/** What may be wrong with a line; anything else is a bug and goes up. */
export function expected(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  throw thrown;
}
