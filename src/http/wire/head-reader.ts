import type { ByteQueue } from "../../runtime/byte-queue.ts";
import { PlantStoreError } from "../../domain/errors.ts";
import type { Head, HeadParser } from "./head.ts";

/**
 * RFC 9112 leaves this limit to the server.
 *
 * @limit connections: head of a request
 */
const HEAD_BYTES_MAX = 16_384;

const CR = 0x0d;
const HEAD_END = "\r\n\r\n";
/** Some readers take it for the end of a line. RFC 9112, 2.2, lets a server refuse it. */
const BARE_LF = /[^\r]\n/;
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]/;

/** Reads the heads of requests from the input. */
export class HeadReader {
  readonly #buffer: ByteQueue;
  readonly #parse: HeadParser;
  /** This many bytes contain no end of a head. */
  #searched = 0;
  #isBegun = false;
  #isLineSkipped = false;

  constructor(buffer: ByteQueue, parse: HeadParser) {
    this.#buffer = buffer;
    this.#parse = parse;
  }

  /** True once for each head, when its first byte has arrived. */
  begins(): boolean {
    this.#skipLine();
    if (this.#isBegun || this.#buffer.length() === 0) return false;
    this.#isBegun = true;
    return true;
  }

  /**
   * Removes the next head from the input; undefined while it is incomplete. Throws as the parser does, and at once for
   * input that cannot become a head.
   */
  read(): Head | undefined {
    if (this.#buffer.length() === 0) return undefined;
    const from = Math.max(0, this.#searched - HEAD_END.length);
    const bytes = this.#buffer.bytes();
    const text = toLatin1(bytes, from, HEAD_BYTES_MAX);
    const end = text.indexOf(HEAD_END);
    if (end === -1) {
      this.#searched = from + text.length;
      this.#expectHead(text);
      return undefined;
    }
    const head = this.#parse(from === 0 ? text.slice(0, end) : toLatin1(bytes, 0, from + end));
    this.#buffer.drop(from + end + HEAD_END.length);
    return head;
  }

  /** The next bytes begin the next request. */
  reset(): void {
    this.#searched = 0;
    this.#isBegun = false;
    this.#isLineSkipped = false;
  }

  /** RFC 9112, 2.2: an empty line in front is left over from a client that ends its body with one. */
  #skipLine(): void {
    if (this.#buffer.first() !== CR || this.#isLineSkipped || toLatin1(this.#buffer.bytes(), 0, 2) !== "\r\n") return;
    this.#isLineSkipped = true;
    this.#searched = 0;
    this.#buffer.drop(2);
  }

  /** Throws for bytes without an end that cannot become a head. `text`: those that are new, and some before them. */
  #expectHead(text: string): void {
    // The parser takes none: it says what is wrong, as it would say of a whole head.
    if (BARE_LF.test(text)) this.#parse(toLatin1(this.#buffer.bytes(), 0, HEAD_BYTES_MAX));
    if (this.#buffer.length() >= HEAD_BYTES_MAX) throw new PlantStoreError("head_too_large");
    const start = toLatin1(this.#buffer.bytes(), 0, 2);
    if (!TOKEN.test(start) && (start !== "\r" || this.#isLineSkipped)) throw new PlantStoreError("malformed_request");
  }
}

/** Bytes from one index to another, or to the end, as text of one character for each byte. */
function toLatin1(bytes: Uint8Array, from: number, to: number): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString("latin1", from, Math.min(to, bytes.length));
}
