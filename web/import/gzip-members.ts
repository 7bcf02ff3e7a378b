import { checkGrowth, gunzip } from "../../src/transfer/gunzip.ts";
import { bytesOf } from "../../src/transfer/bytes.ts";

/** The fixed part of the head of a member (RFC 1952, 2.3). */
const HEAD_BYTES = 10;

/** What is searched at once. */
const STEP_BYTES = 1 << 20;

/**
 * Unpacks gzip of any number of members, as bgzip and `cat` make it: browsers refuse all behind the first one. Throws as
 * `gunzip` does.
 */
export async function* unpackMembers(file: Blob): AsyncGenerator<Uint8Array, void, void> {
  const starts = await findMembers(file);
  let size = 0;
  for (const [at, start] of starts.entries()) {
    for await (const piece of gunzip(bytesOf(file.slice(start, starts[at + 1]).stream()))) {
      size += piece.length;
      // One member is small enough, all of them may not be.
      checkGrowth(size, file.size);
      yield piece;
    }
  }
}

async function findMembers(file: Blob): Promise<number[]> {
  const starts = [0];
  for (let from = 0; from < file.size; from += STEP_BYTES) {
    const bytes = new Uint8Array(await file.slice(from, from + STEP_BYTES + HEAD_BYTES - 1).arrayBuffer());
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
