import type { ByteQueue } from "../../byte-queue.ts";
import { PlantStoreError } from "../../errors.ts";
import { parseHead } from "./head.ts";
import type { Head } from "./head.ts";

/** Reads the heads of requests from the input. */
export type HeadReader = Readonly<{
  /** True once for each head, when its first byte has arrived. */
  begins(): boolean;
  /**
   * Removes the next head from the input; undefined while it is incomplete. Throws as `parseHead` does, and at once for
   * input that cannot become a head.
   */
  read(): Head | undefined;
  /** The next bytes begin the next request. */
  reset(): void;
}>;

/** RFC 9112 leaves this limit to the server. */
const HEAD_BYTES_MAX = 16_384;

const HEAD_END = "\r\n\r\n";
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]/;

export function createHeadReader(buffer: ByteQueue): HeadReader {
  /** This many bytes contain no end of a head. */
  let searched = 0;
  let isBegun = false;
  let isLineSkipped = false;

  /** RFC 9112, 2.2: an empty line in front is left over from a client that ends its body with one. */
  function skipLine(): void {
    const bytes = buffer.bytes();
    if (isLineSkipped || bytes[0] !== 0x0d || bytes[1] !== 0x0a) return;
    isLineSkipped = true;
    searched = 0;
    buffer.drop(2);
  }

  function expectStart(bytes: Buffer): void {
    if (bytes.length >= HEAD_BYTES_MAX) throw new PlantStoreError("head_too_large");
    const start = bytes.toString("latin1", 0, 2);
    if (!TOKEN.test(start) && (start !== "\r" || isLineSkipped)) throw new PlantStoreError("malformed_request");
  }

  return {
    begins() {
      skipLine();
      if (isBegun || buffer.bytes().length === 0) return false;
      isBegun = true;
      return true;
    },
    read() {
      const all = buffer.bytes();
      if (all.length === 0) return undefined;
      const bytes = Buffer.from(all.buffer, all.byteOffset, Math.min(all.length, HEAD_BYTES_MAX));
      const end = bytes.indexOf(HEAD_END, Math.max(0, searched - HEAD_END.length));
      searched = bytes.length;
      if (end === -1) {
        expectStart(bytes);
        return undefined;
      }
      const head = parseHead(bytes.toString("latin1", 0, end));
      buffer.drop(end + HEAD_END.length);
      return head;
    },
    reset() {
      searched = 0;
      isBegun = false;
      isLineSkipped = false;
    },
  };
}
