import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Size of the WAL at which a checkpoint is due, in pages of 4 KiB. */
export const WAL_PAGES_MAX = 4000;

/** How much of a WAL's file stays when it starts again, in bytes: an import must not free room only to take it again. */
export const WAL_BYTES_KEPT = 4 * 4096 * WAL_PAGES_MAX;

/**
 * Size of the WAL at which snapshots end, because it cannot start again while one is open: 512 MiB. All of it is copied
 * at once then, and no commit meanwhile.
 *
 * @limit files: growth of the WAL after which an export on SQLite breaks off
 */
export const SNAPSHOT_WAL_PAGES_MAX = 131_072;

/** Ends a look at one moment of a store. */
export function tooMuchWritten(todo: string): Error {
  return new Error(`More than 512 MB were written to the store meanwhile, and its WAL must not grow without limit: ${todo}.`);
}

/** How many frames of a WAL SQLite reads, and how many were written since it began. */
export type WalFrames = Readonly<{ readable: number; written: number }>;

/** From SQLite's file format (sqlite.org/fileformat2.html, 4.1 and 4.2). */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

type Sums = readonly [number, number];

/**
 * Counts the frames of the WAL of a store that no one uses, whose database has pages of so many bytes. SQLite reads them
 * up to the first one that is not whole, and ignores the rest without a word. It writes one after the other: a process
 * that was killed leaves none behind that one. A header that is not whole hides all frames.
 */
export function countFrames(path: string, pageBytes: number): WalFrames {
  return whileOpen(path, (file) => {
    const header = Buffer.alloc(HEADER_BYTES);
    if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return { readable: 0, written: 0 };
    const order = header.readUInt32BE(0) & 1 ? "readUInt32BE" : "readUInt32LE";
    const salts = header.subarray(16, 24);
    const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
    let sums = sumOf(header.subarray(0, 24), [0, 0], order);
    let isWhole = isEqual(sums, header.subarray(24));
    if (!isWhole) return { readable: 0, written: Math.floor((fstatSync(file).size - HEADER_BYTES) / frame.length) };
    let readable = 0;
    let written = 0;
    for (let at = 1; readSync(file, frame, 0, frame.length, HEADER_BYTES + (at - 1) * frame.length) === frame.length; at += 1) {
      const isOfThisWal = frame.subarray(8, 16).equals(salts);
      if (isWhole) sums = sumOf(frame.subarray(FRAME_HEADER_BYTES), sumOf(frame.subarray(0, 8), sums, order), order);
      isWhole &&= isOfThisWal && isEqual(sums, frame.subarray(16));
      if (isWhole) readable = at;
      if (isOfThisWal) written = at;
    }
    return { readable, written };
  });
}

/** The first page of a database as a commit in its WAL wrote it first; undefined when none did. */
export function firstPageIn(path: string, pageBytes: number): Buffer | undefined {
  return whileOpen(path, (file) => {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(file, header, 0, HEADER_BYTES, 0);
    const start = Buffer.alloc(FRAME_HEADER_BYTES);
    for (let at = HEADER_BYTES; readSync(file, start, 0, start.length, at) === start.length; at += FRAME_HEADER_BYTES + pageBytes) {
      // What follows is from before the WAL began again.
      if (!start.subarray(8, 16).equals(header.subarray(16, 24))) return undefined;
      if (start.readUInt32BE(0) !== 1) continue;
      const page = Buffer.alloc(pageBytes);
      return readSync(file, page, 0, pageBytes, at + FRAME_HEADER_BYTES) === pageBytes ? page : undefined;
    }
    return undefined;
  });
}

function isEqual([first, second]: Sums, bytes: Buffer): boolean {
  return bytes.readUInt32BE(0) === first && bytes.readUInt32BE(4) === second;
}

function sumOf(bytes: Buffer, [first, second]: Sums, order: "readUInt32BE" | "readUInt32LE"): Sums {
  let left = first;
  let right = second;
  for (let at = 0; at < bytes.length; at += 8) {
    left = (left + bytes[order](at) + right) >>> 0;
    right = (right + bytes[order](at + 4) + left) >>> 0;
  }
  return [left, right];
}

/** Opens a file to read it, while the work lasts. */
export function whileOpen<Result>(path: string, work: (file: number) => Result): Result {
  const file = openSync(path, "r");
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}
