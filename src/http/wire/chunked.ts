import { PlantStoreError } from "../../domain/errors.ts";

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

/** Decodes a chunked body as it arrives (RFC 9112, 7.1). */
export class ChunkedDecoder {
  readonly #onBytes: (bytes: Uint8Array) => void;
  #state: State = "size";
  /** The size read so far; then the bytes of the chunk that are still to come. NaN before the first digit. */
  #rest = NaN;
  #lineBytes = 0;
  #trailer = "";
  #trailerBytes = 0;

  constructor(onBytes: (bytes: Uint8Array) => void) {
    this.#onBytes = onBytes;
  }

  /**
   * Passes on the bytes of the body, which it moves together in place. Returns how many of the given bytes belong to
   * the body. Throws `malformed_request`.
   */
  feed(bytes: Uint8Array): number {
    let at = 0;
    let start = 0;
    let end = 0;
    while (at < bytes.length && this.#state !== "done") {
      if (this.#state === "size") at = this.#readSize(bytes, at);
      else if (this.#state === "extension") at = this.#readExtension(bytes, at);
      else if (this.#state === "trailer") at = this.#readTrailer(bytes, at);
      else if (this.#state === "bytes") {
        const count = Math.min(bytes.length - at, this.#rest);
        if (end === 0) [start, end] = [at, at];
        else bytes.copyWithin(end, at, at + count);
        end += count;
        at += count;
        this.#rest -= count;
        if (this.#rest === 0) this.#state = "bytes CR";
      } else {
        this.#takeByte(bytes[at]!);
        at += 1;
      }
    }
    if (end > start) this.#onBytes(bytes.subarray(start, end));
    return at;
  }

  /** Whether the body has ended, with its trailers. */
  isDone(): boolean {
    return this.#state === "done";
  }

  /** Takes one byte between a size and the bytes of its chunk, or behind them. */
  #takeByte(byte: number): void {
    if (byte !== (this.#state === "bytes CR" ? CR : LF)) fail();
    if (this.#state === "bytes CR") this.#state = "bytes LF";
    else if (this.#state === "size end") this.#state = this.#rest === 0 ? "trailer" : "bytes";
    else {
      this.#state = "size";
      this.#rest = NaN;
      this.#lineBytes = 0;
    }
  }

  // Loops over local variables: a chunk may be a single byte, behind thousands of zeros or of an extension, and megabytes of
  // them arrive in one turn of the event loop.

  /** Reads the digits of a size, and the byte behind them. Returns the next position. */
  #readSize(bytes: Uint8Array, start: number): number {
    let at = start;
    let size = this.#rest || 0;
    for (; at < bytes.length; at += 1) {
      const digit = digitOf(bytes[at]!);
      if (digit === undefined) break;
      size = size * 16 + digit;
      if (size >= SIZE_MAX) fail();
    }
    if (at > start) this.#rest = size;
    return this.#endOfPart(bytes, start, at);
  }

  /** Reads an extension, and the byte behind it. Returns the next position. */
  #readExtension(bytes: Uint8Array, start: number): number {
    let at = start;
    while (at < bytes.length && (bytes[at]! >= SPACE || bytes[at] === TAB)) at += 1;
    return this.#endOfPart(bytes, start, at);
  }

  #endOfPart(bytes: Uint8Array, start: number, end: number): number {
    const next = Math.min(end + 1, bytes.length);
    this.#lineBytes += next - start;
    if (this.#lineBytes > LINE_BYTES_MAX) fail();
    if (next === end) return next;
    if (Number.isNaN(this.#rest)) fail();
    if (bytes[end] === CR) this.#state = "size end";
    else if (bytes[end] === SEMICOLON) this.#state = "extension";
    else fail();
    return next;
  }

  /** Reads to the end of a line. Returns the next position. */
  #readTrailer(bytes: Uint8Array, at: number): number {
    const end = bytes.indexOf(LF, at);
    const next = end === -1 ? bytes.length : end + 1;
    this.#trailerBytes += next - at;
    if (this.#trailerBytes > TRAILER_BYTES_MAX) fail();
    this.#trailer += latin1(bytes.subarray(at, next));
    if (end === -1) return next;
    if (this.#trailer === "\r\n") this.#state = "done";
    else if (!this.#trailer.endsWith("\r\n") || !TRAILER.test(this.#trailer.slice(0, -2))) fail();
    this.#trailer = "";
    return next;
  }
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
