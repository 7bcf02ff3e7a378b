import type { HttpResponse, Ending } from "./response.ts";
import { isBodiless, toHead } from "./response.ts";

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

const CRLF = Buffer.from("\r\n");
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
    const ending = endingOf(response);
    const head = toHead(response, { ending, isKeepAlive, isHttp10, date: this.#options.date() });
    if (body === undefined || method === "HEAD" || isBodiless(status)) {
      this.write(head);
      if (body instanceof ReadableStream) return drop(response);
    } else if (typeof body === "string") this.write(head + body, ending.kind === "length" ? head.length + ending.length : undefined);
    else {
      this.write(head);
      if (body instanceof ReadableStream) return this.#sendStream(body);
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
    if (this.#unwritten.length === 0) this.#settle();
  }

  /** The connection is gone: releases everything. */
  close(): void {
    this.#isClosed = true;
    this.#unwritten = NOTHING;
    void this.#reader?.cancel().catch(() => {});
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
        if (piece.value.length > 0) this.write(toChunk(piece.value));
        if (this.#unwritten.length > 0) await this.#flush();
      }
      this.write("0\r\n\r\n");
      if (this.#unwritten.length > 0) await this.#flush();
    } catch {
      // The source of the stream has reported the reason. The body must not look complete.
      this.#options.wire.terminate();
    } finally {
      this.#reader = undefined;
    }
  }
}

function endingOf({ status, body }: HttpResponse): Ending {
  if (isBodiless(status)) return { kind: "none" };
  if (body instanceof ReadableStream) return { kind: "chunked" };
  return { kind: "length", length: body === undefined ? 0 : Buffer.byteLength(body) };
}

/** Releases a response that no one will read. */
export async function drop({ body }: HttpResponse): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel().catch(() => {});
}

function toChunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]);
}
