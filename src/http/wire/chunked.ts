import { PlantStoreError } from "../../errors.ts";

/** Takes a body in chunks apart as it comes (RFC 9112, 7.1). */
export type ChunkedDecoder = Readonly<{
  /** Hands on the bytes of the body, and returns how many of those given belong to it. Throws `malformed_request`. */
  feed(bytes: Uint8Array): number;
  /** Whether the body has come to its end, with its trailers. */
  isDone(): boolean;
}>;

/** A longer line of a size, with its extensions, is refused. */
const LINE_BYTES_MAX = 4096;
/** All lines behind the last chunk. What they say is of no use here: they are read and dropped. */
const TRAILER_BYTES_MAX = 8192;

const SIZE = /^0*([\da-f]{1,12})(?:;[\t -\xff]*)?$/i;
const TRAILER = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t -\xff]*$/;

const LF = 0x0a;

export function createChunkedDecoder(onBytes: (bytes: Uint8Array) => void): ChunkedDecoder {
  let state: "size" | "bytes" | "end" | "trailer" | "done" = "size";
  let line = "";
  let rest = 0;
  let trailerBytes = 0;

  function fail(): never {
    throw new PlantStoreError("malformed_request");
  }

  /** Reads on to the end of a line; returns where to go on. Undefined in `whole` as long as the line goes on. */
  function readLine(bytes: Uint8Array, at: number): { next: number; whole: string | undefined } {
    const end = bytes.indexOf(LF, at);
    const next = end === -1 ? bytes.length : end + 1;
    line += latin1(bytes.subarray(at, next));
    if (line.length > LINE_BYTES_MAX) fail();
    if (end === -1) return { next, whole: undefined };
    if (!line.endsWith("\r\n")) fail();
    const whole = line.slice(0, -2);
    line = "";
    return { next, whole };
  }

  function takeLine(text: string): void {
    if (state === "end") {
      if (text !== "") fail();
      state = "size";
    } else if (state === "size") {
      rest = Number.parseInt(SIZE.exec(text)?.[1] ?? fail(), 16);
      state = rest === 0 ? "trailer" : "bytes";
    } else if (text === "") {
      state = "done";
    } else {
      trailerBytes += text.length;
      if (trailerBytes > TRAILER_BYTES_MAX || !TRAILER.test(text)) fail();
    }
  }

  return {
    feed(bytes) {
      let at = 0;
      while (at < bytes.length && state !== "done") {
        if (state === "bytes") {
          const end = Math.min(bytes.length, at + rest);
          onBytes(bytes.subarray(at, end));
          rest -= end - at;
          at = end;
          if (rest === 0) state = "end";
          continue;
        }
        const { next, whole } = readLine(bytes, at);
        at = next;
        // The end of a chunk is two bytes: more of them need not be waited for to see that they are others.
        if (state === "end" && !"\r\n".startsWith(line)) fail();
        if (whole !== undefined) takeLine(whole);
      }
      return at;
    },
    isDone: () => state === "done",
  };
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
