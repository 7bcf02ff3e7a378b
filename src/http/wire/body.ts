import { PlantStoreError } from "../../domain/errors.ts";
import { createByteQueue } from "../../runtime/byte-queue.ts";
import { createChunkedDecoder } from "./chunked.ts";
import type { Framing } from "./head.ts";

/**
 * The body of a request while it arrives. It can be read once. Rejects with `incomplete_body` when it breaks off, with
 * `malformed_request` when its chunks are invalid.
 */
export type Body = Readonly<{
  /** The whole body, if all of it has arrived. */
  whole(): Uint8Array | undefined;
  /** Its pieces. The sender waits while nobody reads them. */
  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void>;
}>;

/** The same body, as the connection sees it. */
export type IncomingBody = Body &
  Readonly<{
    /** Takes received bytes. Returns those after the body. */
    feed(bytes: Uint8Array): Uint8Array;
    /** Nobody reads it any more: what still arrives is dropped. */
    discard(): void;
    /** No more of it will arrive. */
    fail(code: "incomplete_body"): void;
    isComplete(): boolean;
    /** Whether the rest can be dropped, to keep the connection: it is short, and it is certain that it will come. */
    isDroppable(): boolean;
  }>;

type BodyOptions = Readonly<{
  framing: Framing;
  /** Whether the client waits for "100 Continue". */
  isExpecting: boolean;
  /** Called when too much is buffered to receive more, and when there is room again. */
  onFull: () => void;
  onRoom: () => void;
  /** Called when a reader waits for the first byte, and the client for its "100 Continue". */
  onWanted: () => void;
}>;

/** How many bytes are buffered before the sender must wait. */
const WAITING_BYTES_MAX = 131_072;
/** Longest rest that is dropped to keep a connection, in bytes. */
const SHORT_BYTES_MAX = 65_536;

const NOTHING: Uint8Array = new Uint8Array();

/** A body that has arrived completely, as most have: a class, because each request has one. */
export class WholeBody implements IncomingBody {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  whole(): Uint8Array {
    return this.#bytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    if (this.#bytes.length > 0) yield this.#bytes;
  }

  feed(more: Uint8Array): Uint8Array {
    return more;
  }

  discard(): void {}

  fail(): void {}

  isComplete(): boolean {
    return true;
  }

  isDroppable(): boolean {
    return true;
  }
}

export function createBody({ framing, isExpecting, onFull, onRoom, onWanted }: BodyOptions): IncomingBody {
  const queue = createByteQueue();
  let receivedBytes = 0;
  let rest = framing.kind === "length" ? framing.length : Infinity;
  let failure: PlantStoreError | undefined;
  let isDropping = false;
  let isFull = false;
  let isContinueDue = isExpecting;
  let wake: (() => void) | undefined;
  const decoder = framing.kind === "chunked" ? createChunkedDecoder(keep) : undefined;

  function isComplete(): boolean {
    return decoder ? decoder.isDone() : rest === 0;
  }

  function keep(bytes: Uint8Array): void {
    receivedBytes += bytes.length;
    if (isDropping) return;
    queue.put(bytes);
    if (queue.length() <= WAITING_BYTES_MAX || isFull) return;
    isFull = true;
    onFull();
  }

  function take(): Uint8Array {
    const taken = queue.take();
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
    // A client that was not told to send the body may or may not send it, and a body cannot be told from the next
    // request. The rest of a chunked body has no known length.
    isDroppable: () => !failure && (isComplete() || (!isContinueDue && rest <= SHORT_BYTES_MAX)),
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
      if (isContinueDue && receivedBytes === 0 && !isComplete()) {
        isContinueDue = false;
        onWanted();
      }
      for (;;) {
        if (queue.length() > 0) yield take();
        else if (failure) throw failure;
        else if (isComplete()) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
