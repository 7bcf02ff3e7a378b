import { PlantStoreError } from "../../errors.ts";
import { createByteQueue } from "../../byte-queue.ts";
import { createChunkedDecoder } from "./chunked.ts";
import type { Framing } from "./head.ts";

/** The body of a request while it comes. It can be read once. Rejects with `incomplete_body` when it breaks off, with `malformed_request` when its chunks are none. */
export type Body = Readonly<{
  /** All of it, when all of it is here. */
  whole(): Uint8Array | undefined;
  /** Its pieces. The sender waits while nobody takes them. */
  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void>;
}>;

/** The same body, seen from the connection. */
export type IncomingBody = Body &
  Readonly<{
    /** Takes bytes that came; returns those behind the body. */
    feed(bytes: Uint8Array): Uint8Array;
    /** Nobody reads it any more: what still comes is dropped. */
    discard(): void;
    /** It will not come any further. */
    fail(code: "incomplete_body"): void;
    isComplete(): boolean;
    /** Whether the rest, dropped as it comes, is worth the connection. */
    isShort(): boolean;
  }>;

type BodyOptions = Readonly<{
  framing: Framing;
  /** So much waits here that no more should come; and again little. */
  onFull: () => void;
  onRoom: () => void;
  /** Somebody waits for the first byte of it. */
  onWanted: () => void;
}>;

/** How many bytes wait for whoever reads them. */
const WAITING_BYTES_MAX = 131_072;
/** A rest that is dropped to keep a connection. */
const SHORT_BYTES_MAX = 65_536;

const NOTHING: Uint8Array = new Uint8Array();

/** A body that is all here. Most are. */
export function wholeBody(bytes: Uint8Array): IncomingBody {
  return {
    whole: () => bytes,
    async *[Symbol.asyncIterator]() {
      if (bytes.length > 0) yield bytes;
    },
    feed: (more) => more,
    discard: () => {},
    fail: () => {},
    isComplete: () => true,
    isShort: () => true,
  };
}

export function createBody({ framing, onFull, onRoom, onWanted }: BodyOptions): IncomingBody {
  const queue = createByteQueue();
  let seenBytes = 0;
  let rest = framing.kind === "length" ? framing.length : Infinity;
  let failure: PlantStoreError | undefined;
  let isDropping = false;
  let isFull = false;
  let wake: (() => void) | undefined;
  const decoder = framing.kind === "chunked" ? createChunkedDecoder(keep) : undefined;

  function isComplete(): boolean {
    return decoder ? decoder.isDone() : rest === 0;
  }

  function keep(bytes: Uint8Array): void {
    seenBytes += bytes.length;
    if (isDropping) return;
    queue.put(bytes);
    if (queue.bytes().length <= WAITING_BYTES_MAX || isFull) return;
    isFull = true;
    onFull();
  }

  function take(): Uint8Array {
    const taken = queue.bytes();
    queue.clear();
    if (isFull) {
      isFull = false;
      onRoom();
    }
    return taken;
  }

  function signal(): void {
    wake?.();
    wake = undefined;
  }

  function consume(bytes: Uint8Array): number {
    if (decoder) return decoder.feed(bytes);
    const taken = Math.min(rest, bytes.length);
    if (taken > 0) keep(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    rest -= taken;
    return taken;
  }

  return {
    isComplete,
    // How long the rest of a body in chunks is, nobody knows.
    isShort: () => !failure && (isComplete() || rest <= SHORT_BYTES_MAX),
    feed(bytes) {
      if (failure) return NOTHING;
      try {
        const taken = consume(bytes);
        return taken === bytes.length ? NOTHING : bytes.subarray(taken);
      } catch (thrown) {
        failure = thrown as PlantStoreError;
        return NOTHING;
      } finally {
        signal();
      }
    },
    discard() {
      isDropping = true;
      take();
    },
    fail(code) {
      if (isComplete()) return;
      failure ??= new PlantStoreError(code);
      signal();
    },
    whole: () => (isComplete() ? take() : undefined),
    async *[Symbol.asyncIterator]() {
      if (seenBytes === 0 && !isComplete()) onWanted();
      for (;;) {
        if (queue.bytes().length > 0) yield take();
        else if (failure) throw failure;
        else if (isComplete()) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
