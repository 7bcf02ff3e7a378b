import { inPieces, readAhead } from "../bytes.ts";
import type { Bytes } from "../bytes.ts";

const MARKS = [
  { marked: "utf-8", mark: [0xef, 0xbb, 0xbf] },
  { marked: "utf-16le", mark: [0xff, 0xfe] },
  { marked: "utf-16be", mark: [0xfe, 0xff] },
] as const;

const MARK_BYTES_MAX = 3;

/** No byte of UTF-8. */
const FOREIGN = Uint8Array.of(0xff);

async function* fromUtf16(bytes: Bytes, isBigEndian: boolean): AsyncGenerator<Uint8Array, void, void> {
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

/** The name of an encoding that can be read, such as "windows-1252" for "Latin1". */
export function findEncoding(label: string): string | undefined {
  try {
    const { encoding } = openTextDecoder(label);
    return encoding === "x-user-defined" || encoding === "replacement" ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** Throws a RangeError if there is no such encoding. */
export function openTextDecoder(encoding: string, options?: TextDecoderOptions): TextDecoder {
  return new TextDecoder(encoding as ConstructorParameters<typeof TextDecoder>[0], options);
}

type TextDecoderOptions = Readonly<{ fatal?: boolean; ignoreBOM?: boolean }>;

/** A file without its mark, and what that says. */
export async function readMark(bytes: Bytes): Promise<Readonly<{ marked: "utf-8" | "utf-16le" | "utf-16be" | undefined; bytes: Bytes }>> {
  const { start, all } = await readAhead(bytes, (_, length) => length >= MARK_BYTES_MAX);
  const found = MARKS.find(({ mark }) => mark.every((byte, at) => start[at] === byte));
  return { marked: found?.marked, bytes: all(found?.mark.length) };
}

/**
 * A file in UTF-8. What its encoding does not have becomes a byte that UTF-8 does not have either: its row is refused
 * instead of being mended.
 */
export async function* transcode(bytes: Bytes, encoding: string): AsyncGenerator<Uint8Array, void, void> {
  if (encoding === "utf-8") yield* bytes;
  else if (encoding.startsWith("utf-16")) yield* fromUtf16(bytes, encoding === "utf-16be");
  else yield* fromOther(bytes, encoding);
}

async function* fromOther(bytes: Bytes, encoding: string): AsyncGenerator<Uint8Array, void, void> {
  const decode = openDecoder(encoding);
  for await (const piece of inPieces(bytes)) {
    const text = decode(piece);
    if (text !== "") yield* encode(text);
  }
  const end = decode();
  if (end !== "") yield* encode(end);
}

/** The text of each piece, and at last of what was cut off. A lone surrogate stands for what cannot be decoded. */
function openDecoder(encoding: string): (piece?: Uint8Array) => string {
  const decoder = openTextDecoder(encoding);
  return (piece) => {
    const text = piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
    return text.replaceAll(UNDECODED, LONE);
  };
}

/** What decoders write for what is wrong, and what Windows-1252 and its like have for bytes without a letter. */
const UNDECODED = /[\ufffd\x80-\x9f]/g;
const LONE = "\ud800";

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
