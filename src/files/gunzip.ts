import { createGunzip } from "node:zlib";
import { PlantStoreError } from "../domain/errors.ts";
import { inPieces } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";
import { checkGrowth } from "./packed-file.ts";

/**
 * How many lines there may be for each byte of gzip, once there are many: a line of two bytes costs as much as one of a
 * hundred, and 19 KB can hold five million of them. Tables with ids have less than one.
 *
 * @limit files: further lines of it, for each of its bytes
 */
const LINES_RATIO_MAX = 4;
/** @limit files: lines of a compressed import, whatever its size */
const MANY_LINES = 100_000;

/** What is unpacked at once: at most a megabyte comes of it. */
const STEP_BYTES = 1024;

/**
 * Unpacks gzip of any number of members as it arrives, and reads on only as its output is taken. Zeros may follow, as tapes
 * and some programs pad it. Throws `malformed_gzip`, `body_too_large` for a file that grows too much or to too many lines,
 * and whatever the bytes throw. Releases the source.
 */
export async function* gunzip(bytes: Bytes): AsyncGenerator<Uint8Array, void, void> {
  const lines = createLineCounter();
  let packed = 0;
  let size = 0;
  async function* counted(): AsyncGenerator<Uint8Array, void, void> {
    for await (const piece of inPieces(bytes)) {
      packed += piece.length;
      yield piece;
    }
  }
  for await (const piece of unpack(counted())) {
    size += piece.length;
    checkGrowth(size, packed);
    checkLines(lines.count(piece), packed);
    yield piece;
  }
}

async function* unpack(pieces: Bytes): AsyncGenerator<Uint8Array, void, void> {
  const unpacking = createGunzip();
  let packed = 0;
  let zeros = 0;
  let failure: { thrown: unknown } | undefined;
  let isLeft = false;
  // The reader throws it.
  unpacking.on("error", () => {});
  let onClose = () => {};
  let onTaken = () => {};
  unpacking.on("close", () => [onClose, onTaken].forEach((wake) => wake()));

  /** A zero behind a member ends the unpacking. What follows is only counted. */
  async function pump(): Promise<void> {
    for await (const piece of pieces) {
      if (isLeft) return;
      packed += piece.length;
      zeros = zerosBehind(piece, zeros);
      for (let at = 0; at < piece.length && isOpen(); at += STEP_BYTES) {
        await new Promise<void>((resolve) => {
          onClose = resolve;
          // Copied, because the sender may reuse the memory of what it sent.
          unpacking.write(piece.slice(at, at + STEP_BYTES), () => resolve());
        });
      }
    }
    // What is not taken when it fails is lost: a file may be cut off.
    while (isOpen() && unpacking.readableLength > 0) await new Promise<void>((resolve) => (onTaken = resolve));
    unpacking.end();
  }

  const isOpen = () => !unpacking.destroyed && !unpacking.readableEnded;
  const pumped = pump().catch((thrown: unknown) => {
    failure = { thrown };
    unpacking.destroy();
  });
  try {
    for await (const piece of unpacking as AsyncIterable<Uint8Array>) {
      yield piece;
      onTaken();
    }
    await pumped;
    if (failure || packed - unpacking.bytesWritten > zeros) throw new PlantStoreError("malformed_gzip");
  } catch (thrown) {
    throw failure ? failure.thrown : toMalformed(thrown);
  } finally {
    isLeft = true;
    unpacking.destroy();
  }
}

function toMalformed(thrown: unknown): PlantStoreError {
  return thrown instanceof PlantStoreError ? thrown : new PlantStoreError("malformed_gzip", { cause: thrown });
}

/**
 * How many zeros are at the end, with those before this piece. A loop, as a call for each byte takes fifteen times as
 * long, and megabytes of them arrive in one turn of the event loop.
 */
function zerosBehind(piece: Uint8Array, before: number): number {
  let at = piece.length;
  while (at > 0 && piece[at - 1] === 0) at -= 1;
  return at === 0 ? before + piece.length : piece.length - at;
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
