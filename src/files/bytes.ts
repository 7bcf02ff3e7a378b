import { ByteQueue } from "../runtime/byte-queue.ts";

/** A file as it arrives, in pieces that are cut anywhere. */
export type Bytes = AsyncIterable<Uint8Array>;

/** How much is read without a break. At worst, one-letter lines that are all refused, that takes about 3 ms. */
const PIECE_BYTES = 2_048;

/** The same bytes in small pieces: a runtime that has fallen behind delivers megabytes at once. */
export async function* inPieces(bytes: Bytes): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}

/** The bytes of a stream: not every browser can iterate one. */
export async function* bytesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    // Not awaited: a stalled source does not end.
    reader.cancel().catch(() => {});
  }
}

/** Reads the start of a file, until a piece makes it enough, or the file ends. `length`: how many bytes there are with that piece. */
export async function readAhead(bytes: Bytes, isEnough: (piece: Uint8Array, length: number) => boolean) {
  const source = bytes[Symbol.asyncIterator]();
  const gathered = new ByteQueue();
  for (let isRead = false; !isRead;) {
    const { done, value } = await source.next();
    if (done) break;
    // The sender may reuse the memory of what it sent.
    gathered.put(value.slice());
    isRead = isEnough(value, gathered.length());
  }
  const start = gathered.take();
  /** Yields the start too, from this byte on, and then what follows. Releases the source. */
  async function* all(from = 0): AsyncGenerator<Uint8Array, void, void> {
    try {
      if (start.length > from) yield start.subarray(from);
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  }
  return { start, all };
}
