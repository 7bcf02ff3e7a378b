import { PlantStoreError } from "../../src/domain/errors.ts";
import { bytesOf } from "../../src/files/bytes.ts";
import { checkGrowth } from "../../src/files/packed-file.ts";

/** The fixed part of the head of a member (RFC 1952, 2.3). */
const HEAD_BYTES = 10;

const STEP_BYTES = 1 << 20;

/**
 * Unpacks gzip of any number of members, as bgzip and `cat` make it, and with zeros behind them, as tapes pad it: browsers
 * refuse all behind the first member. Throws `malformed_gzip`, and `body_too_large` for a file that grows too much.
 */
export async function* unpackMembers(file: Blob): AsyncGenerator<Uint8Array, void, void> {
  const starts = await findMembers(file);
  const end = await findEnd(file, starts.at(-1)!);
  let size = 0;
  for (const [at, start] of starts.entries()) {
    for await (const piece of unpack(file.slice(start, starts[at + 1] ?? end))) {
      size += piece.length;
      // One member is small enough, all of them may not be.
      checkGrowth(size, file.size);
      yield piece;
    }
  }
}

async function* unpack(member: Blob): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* bytesOf(member.stream().pipeThrough(new DecompressionStream("gzip")));
  } catch (thrown) {
    // The runtime's word for broken data.
    throw thrown instanceof TypeError ? new PlantStoreError("malformed_gzip", { cause: thrown }) : thrown;
  }
}

/** So many zeros may be the end of a member: its sum, its length, and what is before them if it is empty. */
const ZEROS_MAX = 9;

/** Where the last member ends. Which of the zeros at the end are its own shows only when it is unpacked. */
async function findEnd(file: Blob, start: number): Promise<number> {
  let end = file.size;
  for (let last = -1; last === -1 && end > start;) {
    const from = Math.max(start, end - STEP_BYTES);
    last = (await bytesIn(file, from, end)).findLastIndex((byte) => byte !== 0);
    end = from + last + 1;
  }
  if (end === file.size) return end;
  for (let zeros = 0; zeros <= Math.min(ZEROS_MAX, file.size - end); zeros += 1) {
    if (await isWhole(file.slice(start, end + zeros), file.size)) return end + zeros;
  }
  return file.size;
}

async function isWhole(member: Blob, packed: number): Promise<boolean> {
  let size = 0;
  try {
    for await (const piece of unpack(member)) checkGrowth((size += piece.length), packed);
    return true;
  } catch (thrown) {
    if (thrown instanceof PlantStoreError && thrown.code === "malformed_gzip") return false;
    throw thrown;
  }
}

async function findMembers(file: Blob): Promise<number[]> {
  const starts = [0];
  for (let from = 0; from < file.size; from += STEP_BYTES) {
    const bytes = await bytesIn(file, from, from + STEP_BYTES + HEAD_BYTES - 1);
    // What begins in the bytes of the next step is not whole here.
    for (let at = bytes.indexOf(0x1f); at !== -1; at = bytes.indexOf(0x1f, at + 1)) {
      if (from + at > 0 && isHead(bytes.subarray(at, at + HEAD_BYTES))) starts.push(from + at);
    }
  }
  return starts;
}

/** Bytes that are packed look like this by accident once in 100 GB, because 37 of these bits are always the same. */
function isHead(head: Uint8Array): boolean {
  if (head.length < HEAD_BYTES || head[1] !== 0x8b || head[2] !== 8) return false;
  const [flags, extra, system] = [head[3]!, head[8]!, head[9]!];
  // The flags that no program may set; how well it was packed; zlib counts systems up to 19.
  return flags < 0x20 && (extra === 0 || extra === 2 || extra === 4) && (system <= 19 || system === 255);
}

/** The bytes of a file from one place to another, or to its end. */
async function bytesIn(file: Blob, start: number, end: number): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(start, end).arrayBuffer());
}
