import { PlantStoreError } from "../../errors.ts";

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

/** Longest line of a chunk size with its extensions, in bytes. */
const LINE_BYTES_MAX = 4096;
/** Most digits of a size, without leading zeros. */
const DIGITS_MAX = 12;
/** Longest trailer section, in bytes. Trailers are read and dropped. */
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

  /** Takes one byte of the framing: a chunk may be a single byte long. */
  function takeByte(byte: number): void {
    if (state === "bytes CR") state = byte === CR ? "bytes LF" : fail();
    else if (state === "bytes LF") {
      if (byte !== LF) fail();
      state = "size";
      rest = NaN;
      lineBytes = 0;
    } else takeByteOfSize(byte);
  }

  function takeByteOfSize(byte: number): void {
    lineBytes += 1;
    if (lineBytes > LINE_BYTES_MAX) fail();
    if (state === "size end") {
      if (byte !== LF) fail();
      state = rest === 0 ? "trailer" : "bytes";
    } else if (byte === CR && !Number.isNaN(rest)) state = "size end";
    else if (state === "extension") {
      if (byte < SPACE && byte !== TAB) fail();
    } else if (byte === SEMICOLON && !Number.isNaN(rest)) state = "extension";
    else {
      rest = (rest || 0) * 16 + (digitOf(byte) ?? fail());
      if (rest >= 16 ** DIGITS_MAX) fail();
    }
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
        if (state === "trailer") at = readTrailer(bytes, at);
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
