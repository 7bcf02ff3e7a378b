import { PlantStoreError } from "../../domain/errors.ts";

/** Decodes a chunked body as it arrives (RFC 9112, 7.1). */
export type ChunkedDecoder = Readonly<{
  /**
   * Passes on the bytes of the body, which it moves together in place. Returns how many of the given bytes belong to
   * the body. Throws `malformed_request`.
   */
  feed(bytes: Uint8Array): number;
  /** Whether the body has ended, with its trailers. */
  isDone(): boolean;
}>;

/**
 * Longest line of a chunk size with its extensions, in bytes.
 *
 * @limit connections: line before a chunk
 */
const LINE_BYTES_MAX = 4096;
/** Every chunk is smaller, in bytes: a size that a double holds exactly. */
const SIZE_MAX = 16 ** 12;
/**
 * Longest trailer section, in bytes. Trailers are read and dropped.
 *
 * @limit connections: trailers of a request
 */
const TRAILER_BYTES_MAX = 8192;

const TRAILER = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t -\xff]*$/;

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const SEMICOLON = 0x3b;

/** What the next byte belongs to. */
type State = "size" | "extension" | "size end" | "bytes" | "bytes CR" | "bytes LF" | "trailer" | "done";

export function createChunkedDecoder(onBytes: (bytes: Uint8Array) => void): ChunkedDecoder {
  let state: State = "size";
  /** The size read so far; then the bytes of the chunk that are still to come. NaN before the first digit. */
  let rest = NaN;
  let lineBytes = 0;
  let trailer = "";
  let trailerBytes = 0;

  /** Takes one byte between a size and the bytes of its chunk, or behind them. */
  function takeByte(byte: number): void {
    if (byte !== (state === "bytes CR" ? CR : LF)) fail();
    if (state === "bytes CR") state = "bytes LF";
    else if (state === "size end") state = rest === 0 ? "trailer" : "bytes";
    else {
      state = "size";
      rest = NaN;
      lineBytes = 0;
    }
  }

  // Loops over local variables: a chunk may be a single byte, behind thousands of zeros or of an extension, and megabytes of
  // them arrive in one turn of the event loop.

  /** Reads the digits of a size, and the byte behind them. Returns the next position. */
  function readSize(bytes: Uint8Array, start: number): number {
    let at = start;
    let size = rest || 0;
    for (; at < bytes.length; at += 1) {
      const digit = digitOf(bytes[at]!);
      if (digit === undefined) break;
      size = size * 16 + digit;
      if (size >= SIZE_MAX) fail();
    }
    if (at > start) rest = size;
    return endOfPart(bytes, start, at);
  }

  /** Reads an extension, and the byte behind it. Returns the next position. */
  function readExtension(bytes: Uint8Array, start: number): number {
    let at = start;
    while (at < bytes.length && (bytes[at]! >= SPACE || bytes[at] === TAB)) at += 1;
    return endOfPart(bytes, start, at);
  }

  function endOfPart(bytes: Uint8Array, start: number, end: number): number {
    const next = Math.min(end + 1, bytes.length);
    lineBytes += next - start;
    if (lineBytes > LINE_BYTES_MAX) fail();
    if (next === end) return next;
    if (Number.isNaN(rest)) fail();
    if (bytes[end] === CR) state = "size end";
    else if (bytes[end] === SEMICOLON) state = "extension";
    else fail();
    return next;
  }

  /** Reads to the end of a line. Returns the next position. */
  function readTrailer(bytes: Uint8Array, at: number): number {
    const end = bytes.indexOf(LF, at);
    const next = end === -1 ? bytes.length : end + 1;
    trailerBytes += next - at;
    if (trailerBytes > TRAILER_BYTES_MAX) fail();
    trailer += latin1(bytes.subarray(at, next));
    if (end === -1) return next;
    if (trailer === "\r\n") state = "done";
    else if (!trailer.endsWith("\r\n") || !TRAILER.test(trailer.slice(0, -2))) fail();
    trailer = "";
    return next;
  }

  return {
    feed(bytes) {
      let at = 0;
      let start = 0;
      let end = 0;
      while (at < bytes.length && state !== "done") {
        if (state === "size") at = readSize(bytes, at);
        else if (state === "extension") at = readExtension(bytes, at);
        else if (state === "trailer") at = readTrailer(bytes, at);
        else if (state === "bytes") {
          const count = Math.min(bytes.length - at, rest);
          if (end === 0) [start, end] = [at, at];
          else bytes.copyWithin(end, at, at + count);
          end += count;
          at += count;
          rest -= count;
          if (rest === 0) state = "bytes CR";
        } else {
          takeByte(bytes[at]!);
          at += 1;
        }
      }
      if (end > start) onBytes(bytes.subarray(start, end));
      return at;
    },
    isDone: () => state === "done",
  };
}

function fail(): never {
  throw new PlantStoreError("malformed_request");
}

function digitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  // Upper and lower case differ in one bit.
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
