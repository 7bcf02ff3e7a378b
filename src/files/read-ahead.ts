import { createByteQueue } from "../runtime/byte-queue.ts";
import type { Bytes } from "./bytes.ts";

/** The start of a file. `all` yields it too, from this byte on, and then what follows; it releases the source. */
type ReadAhead = Readonly<{ start: Uint8Array; all: (from?: number) => Bytes }>;

/** Reads until a piece makes it enough, or the file ends. `length`: how many bytes there are with that piece. */
export async function readAhead(bytes: Bytes, isEnough: (piece: Uint8Array, length: number) => boolean): Promise<ReadAhead> {
  const source = bytes[Symbol.asyncIterator]();
  const gathered = createByteQueue();
  for (let isRead = false; !isRead;) {
    const { done, value } = await source.next();
    if (done) break;
    // The sender may reuse the memory of what it sent.
    gathered.put(value.slice());
    isRead = isEnough(value, gathered.length());
  }
  const start = gathered.take();
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
