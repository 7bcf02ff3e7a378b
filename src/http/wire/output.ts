import type { Ending, HttpResponse, LiveBody, LiveSource } from "./response.ts";
import { isBodiless, isLive, toBlock, toHead } from "./response.ts";

type OutputOptions = Readonly<{
  /** Writes what there is room for. Returns how many bytes that were; less than 0 when the connection is gone. */
  wire: Readonly<{ write(data: Uint8Array | string): number; terminate(): void }>;
  /** The time for a header. */
  date: () => string;
  /**
   * Called with true when bytes begin to wait for the peer, or still wait after it read some; with false when none
   * waits any more.
   */
  onWait: (isWaiting: boolean) => void;
}>;

const LAST_CHUNK = "0\r\n\r\n";
const NOTHING: Uint8Array = new Uint8Array();

/** What a connection sends, no faster than the peer reads it. */
export class Output {
  readonly #options: OutputOptions;
  #isClosed = false;
  /** What the socket had no room for. */
  #unwritten: Uint8Array = NOTHING;
  #flushed: PromiseWithResolvers<void> | undefined;
  /** The reader of the stream that is being sent. */
  #reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "cancel"> | undefined;
  #live: LiveSource | undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** `length` in bytes. */
  write(data: Uint8Array | string, length = Buffer.byteLength(data)): void {
    if (this.#isClosed) return;
    if (this.#unwritten.length > 0) {
      this.#unwritten = Buffer.concat([this.#unwritten, typeof data === "string" ? Buffer.from(data) : data]);
      return;
    }
    const { wire, onWait } = this.#options;
    const written = wire.write(data);
    if (written < 0 || written === length) return;
    this.#unwritten = (typeof data === "string" ? Buffer.from(data) : data).subarray(written);
    if (this.#unwritten.length > 0) onWait(true);
  }

  /**
   * Sends the response to a request of this kind. Undefined when all of it has left this process, as usual, or the
   * connection is gone; otherwise a promise that resolves then.
   */
  send(
    response: HttpResponse,
    { method, isHttp10, isKeepAlive }: Readonly<{ method: string; isHttp10: boolean; isKeepAlive: boolean }>,
  ): Promise<void> | undefined {
    const { status, body } = response;
    const ending = endingOf(response, isHttp10);
    const head = toHead(response, { ending, isKeepAlive, isHttp10, date: this.#options.date() });
    if (body === undefined || method === "HEAD" || isBodiless(status)) {
      this.write(head);
      if (typeof body === "object") return drop(response);
    } else if (typeof body === "string") this.write(head + body, ending.kind === "length" ? head.length + ending.length : undefined);
    else {
      this.write(head);
      if (body instanceof ReadableStream) return this.#sendStream(body);
      if (isLive(body)) return this.#sendLive(body, ending.kind === "chunked");
      this.write(body);
    }
    return this.#unwritten.length > 0 ? this.#flush() : undefined;
  }

  /** There is room to write again. */
  drain(): void {
    if (this.#unwritten.length === 0) return;
    const { wire, onWait } = this.#options;
    const written = wire.write(this.#unwritten);
    if (written <= 0) return;
    this.#unwritten = this.#unwritten.subarray(written);
    onWait(this.#unwritten.length > 0);
    if (this.#unwritten.length > 0) return;
    this.#settle();
    this.#live?.drained();
  }

  /** The peer sends no more. */
  peerEnded(): void {
    this.#live?.ended();
  }

  /** The connection is gone: releases everything. */
  close(): void {
    this.#isClosed = true;
    this.#unwritten = NOTHING;
    void this.#reader?.cancel().catch(() => {});
    this.#live?.closed();
    this.#settle();
  }

  /** Resolves when all is written, or the connection is gone. */
  #flush(): Promise<void> {
    this.#flushed ??= Promise.withResolvers();
    return this.#flushed.promise;
  }

  #settle(): void {
    this.#flushed?.resolve();
    this.#flushed = undefined;
  }

  async #sendStream(stream: ReadableStream<Uint8Array>): Promise<void> {
    const pieces = stream.getReader();
    this.#reader = pieces;
    try {
      for (let piece = await pieces.read(); !piece.done && !this.#isClosed; piece = await pieces.read()) {
        if (piece.value.length > 0) this.write(toBlock(piece.value).chunk);
        if (this.#unwritten.length > 0) await this.#flush();
      }
      this.write(LAST_CHUNK);
      if (this.#unwritten.length > 0) await this.#flush();
    } catch {
      // The source of the stream has reported the reason. The body must not look complete.
      this.#options.wire.terminate();
    } finally {
      this.#reader = undefined;
    }
  }

  async #sendLive(body: LiveBody, isChunked: boolean): Promise<void> {
    const over = Promise.withResolvers<void>();
    let isCut = false;
    const source = body.open({
      write: ({ chunk, bytes }) => {
        this.write(isChunked ? chunk : bytes);
        return this.#unwritten.length;
      },
      end: over.resolve,
      cut: () => {
        isCut = true;
        this.#options.wire.terminate();
        over.resolve();
      },
    });
    this.#live = { ...source, closed: () => (source.closed(), over.resolve()) };
    await over.promise;
    this.#live = undefined;
    // The body must not look complete.
    if (isCut) return this.#isClosed ? undefined : this.#flush();
    if (isChunked) this.write(LAST_CHUNK);
    if (this.#unwritten.length > 0) await this.#flush();
  }
}

function endingOf({ status, body }: HttpResponse, isHttp10: boolean): Ending {
  if (isBodiless(status)) return { kind: "none" };
  if (isLive(body)) return { kind: isHttp10 ? "close" : "chunked" };
  if (body instanceof ReadableStream) return { kind: "chunked" };
  return { kind: "length", length: body === undefined ? 0 : Buffer.byteLength(body) };
}

/** Releases a response that no one will read. */
export async function drop({ body }: HttpResponse): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel().catch(() => {});
  else if (isLive(body)) body.drop();
}
