import { PlantStoreError } from "../errors.ts";
import type { NewPlant } from "../plant.ts";
import type { ColumnChoice, Places } from "./columns.ts";

/**
 * One line of a file, counted from 1: a plant, or why it is not one. An id that was made from the content may belong to
 * another plant by accident, and then replaces none.
 */
export type Row = Readonly<{ line: number; plant: NewPlant; isIdMade?: boolean }> | Readonly<{ line: number; refusal: PlantStoreError }>;

/** A file as it arrives, in pieces that are cut anywhere. */
export type Bytes = AsyncIterable<Uint8Array>;

/** The rows of a file, some at a time, so that a file of any length takes constant memory. */
export type Rows = AsyncGenerator<readonly Row[], void, void>;

/** The encodings of files that are read, besides UTF-8. */
export type Encoding = "utf-16le" | "utf-16be" | "windows-1252";

/**
 * Where the ids of rows without one come from: nowhere, so that they are refused; from their content; or they are
 * numbered from here on.
 */
export type Ids = Readonly<{ kind: "file" | "content" }> | Readonly<{ kind: "from"; first: bigint }>;

/** What a sender says about a file of CSV. */
export type CsvReading = Readonly<{
  /** Whether the first line names the columns, and is no row. */
  hasHeader: boolean;
  columns: ColumnChoice;
  ids: Ids;
  /** Undefined if the first letter beyond ASCII shows it. */
  encoding: "utf-8" | "windows-1252" | undefined;
  isGuessing: boolean;
  /** Whether a quoted empty tag means none. */
  isEmptyTagNone: boolean;
}>;

export const PLAIN: CsvReading = {
  hasHeader: true,
  columns: {},
  ids: { kind: "file" },
  encoding: "utf-8",
  isGuessing: false,
  isEmptyTagNone: false,
};

export type ReadOptions = Readonly<{
  /** Checks the content of a line against the contract. Throws a PlantStoreError. */
  parsePlant: (value: unknown) => NewPlant;
  /** A longer line is refused. */
  lineBytesMax: number;
  /** Called once for each of the first hundred columns that are not read, or only in part. */
  onUnused: (column: string) => void;
  /** Called with the names of the columns of CSV and what separates them; then with their places, if it has those that it needs. */
  onNames?: (names: readonly string[], delimiter: string) => void;
  onPlaces?: (places: Places, names: readonly string[]) => void;
  /** Called once if the file turns out not to be UTF-8. */
  onEncoding?: (encoding: Encoding) => void;
  csv?: CsvReading;
}>;

/** How much is read without a break. At worst, one-letter lines that are all refused, that takes about 10 ms. */
const PIECE_BYTES = 8_192;

/** The same bytes in small pieces: a runtime that has fallen behind delivers megabytes at once. */
export async function* inPieces(bytes: Bytes): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}

/**
 * How slowly bytes may arrive. Only the time spent waiting for them counts, not the time that they wait for the store.
 */
export type Patience = Readonly<{
  /** How long no byte may arrive, in milliseconds. */
  idleMs: number;
  /**
   * How long the reader may wait in all, in milliseconds, before `bytesPerSecondMin` applies to each second of waiting.
   */
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
export async function* whileMoving(bytes: Bytes, { idleMs, graceMs, bytesPerSecondMin }: Patience): AsyncGenerator<Uint8Array, void, void> {
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
      // What came during a pause is read first. Whoever drips gets no such time.
      const timer = setTimeout(() => (didPause() ? setTimeout(refuse, READ_MS) : refuse()), limitMs);
      try {
        next = await Promise.race([source.next(), late.promise]);
      } finally {
        clearTimeout(timer);
      }
      // Only now is it known of a chunked body (RFC 9112, 6).
      if (next.done && size === 0) throw new PlantStoreError("missing_body");
      if (next.done) return;
      // During a pause nobody waited for the sender.
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
    // Not awaited: a stalled source does not end either.
    void source.return?.().catch(() => {});
  }
}

/** The refusal of a line that is too long. */
export function tooLong(bytesMax: number): PlantStoreError {
  return new PlantStoreError("body_too_large", { message: `The line is longer than ${bytesMax} bytes: send a shorter one.` });
}

/** Passes on what may be wrong with a line. Anything else is a bug and is thrown again. */
export function expected(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  throw thrown;
}
