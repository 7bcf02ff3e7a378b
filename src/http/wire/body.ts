import { PlantStoreError } from "../../domain/errors.ts";
import { ByteQueue } from "../../runtime/byte-queue.ts";
import { ChunkedDecoder } from "./chunked.ts";
import type { Framing } from "./head.ts";

export type IncomingBody = WholeBody | ArrivingBody;

/** A body as the handler of its request sees it. */
export type Body = Pick<IncomingBody, "whole" | typeof Symbol.asyncIterator>;

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
export class WholeBody {
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

  fail(_code: "incomplete_body"): void {}

  isComplete(): boolean {
    return true;
  }

  isDroppable(): boolean {
    return true;
  }
}

/**
 * A body whose end has not arrived yet. It can be read once. Rejects with `incomplete_body` when it breaks off, with
 * `malformed_request` when its chunks are invalid.
 */
export class ArrivingBody {
  readonly #options: BodyOptions;
  readonly #queue = new ByteQueue();
  readonly #decoder: ChunkedDecoder | undefined;
  #receivedBytes = 0;
  #rest: number;
  #failure: PlantStoreError | undefined;
  #isDropping = false;
  #isFull = false;
  #isContinueDue: boolean;
  #wake: (() => void) | undefined;

  constructor(options: BodyOptions) {
    const { framing, isExpecting } = options;
    this.#options = options;
    this.#rest = framing.kind === "length" ? framing.length : Infinity;
    this.#isContinueDue = isExpecting;
    this.#decoder = framing.kind === "chunked" ? new ChunkedDecoder((bytes) => this.#keep(bytes)) : undefined;
  }

  isComplete(): boolean {
    return this.#decoder ? this.#decoder.isDone() : this.#rest === 0;
  }

  /**
   * Whether the rest can be dropped, to keep the connection: it is short, and it is certain that it will come. A client
   * that was not told to send the body may or may not send it, and a body cannot be told from the next request. The rest
   * of a chunked body has no known length.
   */
  isDroppable(): boolean {
    return !this.#failure && (this.isComplete() || (!this.#isContinueDue && this.#rest <= SHORT_BYTES_MAX));
  }

  /** Takes received bytes. Returns those after the body. */
  feed(bytes: Uint8Array): Uint8Array {
    if (this.#failure) return NOTHING;
    try {
      const taken = this.#consume(bytes);
      return taken === bytes.length ? NOTHING : bytes.subarray(taken);
    } catch (thrown) {
      this.#failure = thrown as PlantStoreError;
      return NOTHING;
    } finally {
      this.#signal();
    }
  }

  /** No one reads it any more: what still arrives is dropped. */
  discard(): void {
    this.#isDropping = true;
    this.#take();
  }

  /** No more of it will arrive. */
  fail(code: "incomplete_body"): void {
    if (this.isComplete()) return;
    this.#failure ??= new PlantStoreError(code);
    this.#signal();
  }

  /** The whole body, if all of it has arrived. */
  whole(): Uint8Array | undefined {
    return this.isComplete() ? this.#take() : undefined;
  }

  /** Its pieces. The sender waits while no one reads them. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    if (this.#isContinueDue && this.#receivedBytes === 0 && !this.isComplete()) {
      this.#isContinueDue = false;
      this.#options.onWanted();
    }
    for (;;) {
      if (this.#queue.length() > 0) yield this.#take();
      else if (this.#failure) throw this.#failure;
      else if (this.isComplete()) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #keep(bytes: Uint8Array): void {
    this.#receivedBytes += bytes.length;
    if (this.#isDropping) return;
    this.#queue.put(bytes);
    if (this.#queue.length() <= WAITING_BYTES_MAX || this.#isFull) return;
    this.#isFull = true;
    this.#options.onFull();
  }

  #take(): Uint8Array {
    const taken = this.#queue.take();
    if (this.#isFull) {
      this.#isFull = false;
      this.#options.onRoom();
    }
    return taken;
  }

  #signal(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #consume(bytes: Uint8Array): number {
    if (this.#decoder) return this.#decoder.feed(bytes);
    const taken = Math.min(this.#rest, bytes.length);
    if (taken > 0) this.#keep(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    this.#rest -= taken;
    return taken;
  }
}
