import type { HttpResponse, Ending } from "./response.ts";
import { isBodiless, toHead } from "./response.ts";

/** What a connection sends, no faster than the peer reads it. */
export type Output = Readonly<{
  write(data: Uint8Array | string): void;
  /**
   * Sends the response to a request of this kind. Undefined when all of it has left this process, as usual, or the
   * connection is gone; otherwise a promise that resolves then.
   */
  send(response: HttpResponse, to: Readonly<{ method: string; isHttp10: boolean; isKeepAlive: boolean }>): Promise<void> | undefined;
  /** There is room to write again. */
  drain(): void;
  /** The connection is gone: releases everything. */
  close(): void;
}>;

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

export function createOutput({ wire, date, onWait }: OutputOptions): Output {
  let isClosed = false;
  /** What the socket had no room for. */
  let unwritten: Uint8Array = NOTHING;
  let flushed: PromiseWithResolvers<void> | undefined;
  /** The reader of the stream that is being sent. */
  let reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "cancel"> | undefined;

  /** `length` in bytes. */
  function write(data: Uint8Array | string, length = Buffer.byteLength(data)): void {
    if (isClosed) return;
    if (unwritten.length > 0) {
      unwritten = Buffer.concat([unwritten, typeof data === "string" ? Buffer.from(data) : data]);
      return;
    }
    const written = wire.write(data);
    if (written < 0 || written === length) return;
    unwritten = (typeof data === "string" ? Buffer.from(data) : data).subarray(written);
    if (unwritten.length > 0) onWait(true);
  }

  /** Resolves when all is written, or the connection is gone. */
  function flush(): Promise<void> {
    flushed ??= Promise.withResolvers();
    return flushed.promise;
  }

  function settle(): void {
    flushed?.resolve();
    flushed = undefined;
  }

  async function sendStream(stream: ReadableStream<Uint8Array>): Promise<void> {
    const pieces = stream.getReader();
    reader = pieces;
    try {
      for (let piece = await pieces.read(); !piece.done && !isClosed; piece = await pieces.read()) {
        if (piece.value.length > 0) write(toChunk(piece.value));
        if (unwritten.length > 0) await flush();
      }
      write("0\r\n\r\n");
      if (unwritten.length > 0) await flush();
    } catch {
      // The source of the stream has reported the reason. The body must not look complete.
      wire.terminate();
    } finally {
      reader = undefined;
    }
  }

  return {
    write,
    send(response, { method, isHttp10, isKeepAlive }) {
      const { status, body } = response;
      const ending = endingOf(response);
      const head = toHead(response, { ending, isKeepAlive, isHttp10, date: date() });
      if (body === undefined || method === "HEAD" || isBodiless(status)) {
        write(head);
        if (body instanceof ReadableStream) return drop(response);
      } else if (typeof body === "string") write(head + body, ending.kind === "length" ? head.length + ending.length : undefined);
      else {
        write(head);
        if (body instanceof ReadableStream) return sendStream(body);
        write(body);
      }
      return unwritten.length > 0 ? flush() : undefined;
    },
    drain() {
      if (unwritten.length === 0) return;
      const written = wire.write(unwritten);
      if (written <= 0) return;
      unwritten = unwritten.subarray(written);
      onWait(unwritten.length > 0);
      if (unwritten.length === 0) settle();
    },
    close() {
      isClosed = true;
      unwritten = NOTHING;
      void reader?.cancel().catch(() => {});
      settle();
    },
  };
}

function endingOf({ status, body }: HttpResponse): Ending {
  if (isBodiless(status)) return { kind: "none" };
  if (body instanceof ReadableStream) return { kind: "chunked" };
  return { kind: "length", length: body === undefined ? 0 : Buffer.byteLength(body) };
}

/** Releases a response that nobody will read. */
export async function drop({ body }: HttpResponse): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel().catch(() => {});
}

function toChunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]);
}
