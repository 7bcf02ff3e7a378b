import { inPieces, readAhead } from "./bytes.ts";
import type { Bytes } from "./bytes.ts";

/** The encodings of files that are read, besides UTF-8. */
export type Encoding = "utf-16le" | "utf-16be" | "windows-1252";

/**
 * A file without its mark, in UTF-8 if that says UTF-16, and what it says. A surrogate that stands alone becomes a byte
 * that UTF-8 does not have: its row is refused instead of being mended.
 */
export async function toUtf8(bytes: Bytes): Promise<Readonly<{ encoding: Encoding | undefined; isMarked: boolean; bytes: Bytes }>> {
  const { start, all } = await readAhead(bytes, (_, length) => length >= MARK_BYTES_MAX);
  const mark = MARKS.find(({ mark: marked }) => marked.every((byte, at) => start[at] === byte));
  const encoding = mark?.encoding;
  const unmarked = all(mark?.mark.length);
  return { encoding, isMarked: mark !== undefined, bytes: encoding ? transcode(unmarked, encoding === "utf-16be") : unmarked };
}

const MARKS = [
  { encoding: undefined, mark: [0xef, 0xbb, 0xbf] },
  { encoding: "utf-16le", mark: [0xff, 0xfe] },
  { encoding: "utf-16be", mark: [0xfe, 0xff] },
] as const;

const MARK_BYTES_MAX = 3;

/** No byte of UTF-8. */
const FOREIGN = Uint8Array.of(0xff);

async function* transcode(bytes: Bytes, isBigEndian: boolean): AsyncGenerator<Uint8Array, void, void> {
  // At most one half of a unit, behind one half of a pair.
  let rest = new Uint8Array();
  for await (const piece of inPieces(bytes)) {
    const joined = new Uint8Array(rest.length + piece.length);
    joined.set(rest);
    joined.set(piece, rest.length);
    const view = new DataView(joined.buffer);
    const units = Array.from({ length: joined.length >> 1 }, (_, at) => view.getUint16(at * 2, !isBigEndian));
    if (isHighSurrogate(units.at(-1))) units.pop();
    rest = joined.slice(units.length * 2);
    yield* encode(String.fromCharCode(...units));
  }
  // A unit or pair that is cut off.
  if (rest.length > 0) yield FOREIGN;
}

const utf8 = new TextEncoder();

function* encode(text: string): Generator<Uint8Array, void, void> {
  const [head = "", ...others] = text.isWellFormed() ? [text] : text.split(/\p{Surrogate}/u);
  yield utf8.encode(head);
  for (const other of others) {
    yield FOREIGN;
    yield utf8.encode(other);
  }
}

function isHighSurrogate(unit: number | undefined): boolean {
  return unit !== undefined && unit >= 0xd800 && unit <= 0xdbff;
}

/**
 * An encoding that has a letter for each byte: a native decoder, and the same letters as ASCII for the bytes of ASCII.
 */
const decoder = new TextDecoder("windows-1252");

const LETTERS = decoder.decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));

const BYTES = new Uint8Array(Math.max(...Array.from(LETTERS, (letter) => letter.charCodeAt(0))) + 1);
for (let byte = 0; byte < LETTERS.length; byte += 1) BYTES[LETTERS.charCodeAt(byte)] = byte;

/**
 * Bytes as a text that has one letter for each, so that they can be split and compared like text whatever they mean.
 */
export function toByteText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function toBytes(byteText: string): Uint8Array {
  const bytes = new Uint8Array(byteText.length);
  for (let at = 0; at < byteText.length; at += 1) bytes[at] = BYTES[byteText.charCodeAt(at)]!;
  return bytes;
}
