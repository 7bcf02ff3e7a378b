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
