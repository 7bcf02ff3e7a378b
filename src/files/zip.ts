import { checkGrowth } from "./packed-file.ts";
import { bytesOf } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";
import { TableError } from "./table-error.ts";

/** Files inside of a ZIP file (APPNOTE 6.3.10), by their names. */
export type Zip = ReadonlyMap<string, Packed>;

/** `size` is packed, `length` and `crc` are of what comes out. `pause` is awaited before each piece of it. */
type Packed = Readonly<{ offset: number; size: number; method: number; length: number; crc: number; pause: Pause }>;

/** Lets others have their turn, if it is time. */
export type Pause = () => Promise<void>;

const END = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
/** Stands for a number that is in the extra field of ZIP64 (4.5.3), as some programs write whatever they write as a stream. */
const ELSEWHERE = 0xffffffff;
const ZIP64 = 1;
/** More files than that are no table. */
const DIRECTORY_BYTES_MAX = 1_000_000;

/** The methods of packing: none, and deflate. */
const STORED = 0;
const DEFLATED = 8;

/** The first bytes of a ZIP file. */
export function isZip(head: Uint8Array): boolean {
  return head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4;
}

/** Reads the directory at the end of a ZIP file. Throws a TableError. */
export async function openZip(file: Blob, pause: Pause = () => Promise.resolve()): Promise<Zip> {
  const tail = await viewOf(file, Math.max(0, file.size - END_BYTES - COMMENT_BYTES_MAX), file.size);
  let end = tail.byteLength - END_BYTES;
  while (end >= 0 && tail.getUint32(end, true) !== END) end -= 1;
  if (end < 0) throw new TableError("The file is incomplete, a ZIP file without its end: save it again, and send all of it.");
  const size = tail.getUint32(end + 12, true);
  const start = tail.getUint32(end + 16, true);
  if (size > DIRECTORY_BYTES_MAX || start + size > file.size)
    throw new TableError("The file cannot be read: save it again as .xlsx or as CSV.");
  return toEntries(await viewOf(file, start, start + size), pause);
}

/**
 * The bytes of a file inside of it. Throws `body_too_large` if it grows too much, as gzip does, and a TableError if they
 * are not those that were packed, which shows at their end.
 */
export async function* unpack(file: Blob, { offset, size, method, length, crc, pause }: Packed): AsyncGenerator<Uint8Array, void, void> {
  const local = await viewOf(file, offset, offset + LOCAL_BYTES);
  if (local.byteLength < LOCAL_BYTES) throw new TableError("The file is incomplete: save it again.");
  const start = offset + LOCAL_BYTES + local.getUint16(26, true) + local.getUint16(28, true);
  const packed = file.slice(start, start + size);
  if (method !== STORED && method !== DEFLATED)
    throw new TableError("The file uses a compression that cannot be read: save it again as .xlsx or as CSV.");
  const stream = method === STORED ? packed.stream() : packed.stream().pipeThrough(new DecompressionStream("deflate-raw"));
  let unpacked = 0;
  let sum = 0;
  try {
    for await (const piece of inParts(bytesOf(stream))) {
      await pause();
      unpacked += piece.length;
      checkGrowth(unpacked, size);
      sum = addCrc(sum, piece);
      yield piece;
    }
  } catch (thrown) {
    // The runtime's word for broken data.
    if (thrown instanceof TypeError) throw new TableError(DAMAGED);
    throw thrown;
  }
  if (unpacked !== length || sum !== crc) throw new TableError(DAMAGED);
}

/** What comes out at once may be megabytes, and a sheet takes ten times as long to read as to unpack. */
const PART_BYTES = 32 * 1024;

async function* inParts(bytes: Bytes): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of bytes) for (let at = 0; at < piece.length; at += PART_BYTES) yield piece.subarray(at, at + PART_BYTES);
}

const DAMAGED = "The file is damaged: save it again.";

/** The CRC-32 of each byte: no browser has one. */
const CRCS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

function addCrc(sum: number, bytes: Uint8Array): number {
  let crc = ~sum;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRCS[(crc ^ byte) & 0xff]!;
  return ~crc >>> 0;
}

/** All of it as text, which must be short. */
export async function textOf(bytes: Bytes, lengthMax: number): Promise<string> {
  let text = "";
  for await (const piece of piecesOf(bytes)) {
    text += piece;
    if (text.length > lengthMax) throw new TableError("The file is larger than can be read: save it as CSV.");
  }
  return text;
}

/** XML in UTF-8, as it comes. Throws a TableError if it is, or says that it is, in another encoding. */
export async function* piecesOf(bytes: Bytes): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let isBegun = false;
  try {
    for await (const piece of bytes) {
      const text = decoder.decode(piece, { stream: true });
      if (!isBegun && FOREIGN.test(text)) throw new TypeError("another encoding");
      isBegun = true;
      yield text;
    }
    yield decoder.decode();
  } catch (thrown) {
    // The decoder's word for bytes that are no UTF-8.
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new TableError("The XML in the file is not UTF-8: open it in the program that wrote it, and save it again.");
  }
}

const FOREIGN = /^<\?xml\s[^>]*\bencoding\s*=\s*["'](?!utf-8["'])/i;

function toEntries(directory: DataView<ArrayBuffer>, pause: Pause): Zip {
  const entries = new Map<string, Packed>();
  const utf8 = new TextDecoder();
  for (let at = 0; at + ENTRY_BYTES <= directory.byteLength && directory.getUint32(at, true) === ENTRY;) {
    const entry = new DataView(directory.buffer, directory.byteOffset + at);
    const extra = ENTRY_BYTES + entry.getUint16(28, true);
    const end = extra + entry.getUint16(30, true);
    if (end > entry.byteLength) throw new TableError(DAMAGED);
    const long = longNumbers(part(entry, extra, end));
    const numberAt = (place: number) => {
      const short = entry.getUint32(place, true);
      return short === ELSEWHERE ? (long.shift() ?? short) : short;
    };
    entries.set(utf8.decode(part(entry, ENTRY_BYTES, extra)), {
      method: entry.getUint16(10, true),
      crc: entry.getUint32(16, true),
      // The long ones have this order.
      length: numberAt(24),
      size: numberAt(20),
      offset: numberAt(42),
      pause,
    });
    at += end + entry.getUint16(32, true);
  }
  return entries;
}

function part(view: DataView<ArrayBuffer>, from: number, to: number): DataView<ArrayBuffer> {
  return new DataView(view.buffer, view.byteOffset + from, to - from);
}

/** What ZIP64 has in an extra field. */
function longNumbers(extra: DataView): number[] {
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (extra.getUint16(at, true) !== ZIP64) continue;
    const bytes = Math.min(extra.getUint16(at + 2, true), extra.byteLength - at - 4);
    return Array.from({ length: bytes >> 3 }, (_, place) => Number(extra.getBigUint64(at + 4 + place * 8, true)));
  }
  return [];
}

async function viewOf(file: Blob, start: number, end: number): Promise<DataView<ArrayBuffer>> {
  return new DataView(await file.slice(start, end).arrayBuffer());
}
