import { PlantStoreError } from "../errors.ts";
import { inPieces } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";

/**
 * What a file may grow to: so many bytes for each byte of gzip, once it is long. Tables reach 5 to 50, gzip itself
 * ends at 1,032.
 */
const RATIO_MAX = 250;
const LONG_BYTES = 10_000_000;

/**
 * How many lines there may be for each byte of gzip, once there are many: a line of two bytes costs as much as one of a
 * hundred, and 19 KB can hold five million of them. Tables with ids have less than one.
 */
const LINES_RATIO_MAX = 4;
const MANY_LINES = 100_000;

/** What is unpacked at once: at most a megabyte comes of it. */
const STEP_BYTES = 1024;

/** The first bytes of gzip (RFC 1952, 2.3.1). */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/**
 * Unpacks gzip as it arrives, and reads on only as its output is taken. Throws `malformed_gzip`, `body_too_large` for a
 * file that grows too much or to too many lines, and whatever the bytes throw. Releases the source.
 */
export async function* gunzip(bytes: Bytes): AsyncGenerator<Uint8Array, void, void> {
  const { readable, writable } = new DecompressionStream("gzip");
  const writer = writable.getWriter();
  const reader = readable.getReader();
  let packed = 0;
  let size = 0;
  const lines = createLineCounter();
  let failure: { thrown: unknown } | undefined;

  async function pump(): Promise<void> {
    try {
      for await (const piece of inPieces(bytes)) {
        packed += piece.length;
        // Copied, because the sender may reuse the memory of what it sent.
        for (let at = 0; at < piece.length; at += STEP_BYTES) await writer.write(piece.slice(at, at + STEP_BYTES));
      }
    } catch (thrown) {
      // What the unpacking refuses, the reader throws as well.
      failure = { thrown };
      return writer.abort(thrown);
    }
    await writer.close();
  }

  pump().catch(() => {});
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.length;
      checkGrowth(size, packed);
      checkLines(lines.count(value), packed);
      yield value;
    }
  } catch (thrown) {
    if (thrown instanceof PlantStoreError) throw thrown;
    if (failure && !(failure.thrown instanceof TypeError)) throw failure.thrown;
    throw new PlantStoreError("malformed_gzip", { cause: thrown });
  } finally {
    // Not awaited: a stalled source does not end either.
    reader.cancel().catch(() => {});
  }
}

/** Throws `body_too_large` if so many bytes may not come out of so few. */
export function checkGrowth(size: number, packed: number): void {
  if (size <= LONG_BYTES || size <= packed * RATIO_MAX) return;
  throw new PlantStoreError("body_too_large", {
    message: `The compressed file grows to more than ${RATIO_MAX} times its size: send it uncompressed, a workbook as CSV.`,
  });
}

function checkLines(lines: number, packed: number): void {
  if (lines <= MANY_LINES || lines <= packed * LINES_RATIO_MAX) return;
  throw new PlantStoreError("body_too_large", {
    message: `The compressed file has more than ${LINES_RATIO_MAX} lines for each of its bytes: send it uncompressed.`,
  });
}

const LF = 0x0a;
const CR = 0x0d;

/** Counts the ends of lines with something in them, in any encoding. The others cost next to nothing. */
function createLineCounter(): Readonly<{ count: (more: Uint8Array) => number }> {
  let lines = 0;
  let isEnd = true;
  let size = 0;
  let before = 0;
  /** Of UTF-16, by its mark. One byte of a letter in Gujarati or Malayalam looks like an end. */
  let order: "little" | "big" | undefined;
  return {
    count(more) {
      for (const byte of more) {
        size += 1;
        const unit = order === undefined ? byte : order === "little" ? before | (byte << 8) : (before << 8) | byte;
        if (size === 2 && before + byte === 0x1fd) order = before === 0xff ? "little" : "big";
        before = byte;
        if (order !== undefined && size % 2 === 1) continue;
        const wasEnd = isEnd;
        isEnd = unit === LF || unit === CR;
        if (isEnd && !wasEnd) lines += 1;
      }
      return lines;
    },
  };
}
