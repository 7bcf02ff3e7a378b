import type { ByteQueue } from "../../byte-queue.ts";
import { PlantStoreError } from "../../errors.ts";
import { parseHead } from "./head.ts";
import type { Head } from "./head.ts";

/** Finds the heads of requests in what came. */
export type HeadReader = Readonly<{
  /** Whether the first byte of a head is here, and was not before. */
  begins(): boolean;
  /** Takes the next head out; undefined as long as it is not whole. Throws as `parseHead`, and at once for what cannot become a head. */
  read(): Head | undefined;
  /** What comes now is the next request. */
  reset(): void;
}>;

/** RFC 9112 leaves it to the server. */
const HEAD_BYTES_MAX = 16_384;

const HEAD_END = "\r\n\r\n";
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]/;

export function createHeadReader(ahead: ByteQueue): HeadReader {
  /** So many bytes hold no end of a head. */
  let searched = 0;
  let isBegun = false;
  let isLineSkipped = false;

  /** RFC 9112, 2.2: an empty line in front is left over from a client that ends its body with one. */
  function skipLine(): void {
    const bytes = ahead.bytes();
    if (isLineSkipped || bytes[0] !== 0x0d || bytes[1] !== 0x0a) return;
    isLineSkipped = true;
    searched = 0;
    ahead.drop(2);
  }

  function expectBeginning(bytes: Buffer): void {
    if (bytes.length >= HEAD_BYTES_MAX) throw new PlantStoreError("head_too_large");
    const beginning = bytes.toString("latin1", 0, 2);
    if (!TOKEN.test(beginning) && (beginning !== "\r" || isLineSkipped)) throw new PlantStoreError("malformed_request");
  }

  return {
    begins() {
      skipLine();
      if (isBegun || ahead.bytes().length === 0) return false;
      isBegun = true;
      return true;
    },
    read() {
      const all = ahead.bytes();
      if (all.length === 0) return undefined;
      const bytes = Buffer.from(all.buffer, all.byteOffset, Math.min(all.length, HEAD_BYTES_MAX));
      const end = bytes.indexOf(HEAD_END, Math.max(0, searched - HEAD_END.length));
      searched = bytes.length;
      if (end === -1) {
        expectBeginning(bytes);
        return undefined;
      }
      const head = parseHead(bytes.toString("latin1", 0, end));
      ahead.drop(end + HEAD_END.length);
      return head;
    },
    reset() {
      searched = 0;
      isBegun = false;
      isLineSkipped = false;
    },
  };
}
