/**
 * An encoding that has a letter for each byte: a native decoder, and the same letters as ASCII for the bytes of ASCII.
 */
const decoder = new TextDecoder("windows-1252");

/** The letter of each byte. */
const LETTERS = decoder.decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));

/** The byte of each letter. */
const BYTES = new Uint8Array(Math.max(...Array.from(LETTERS, (letter) => letter.charCodeAt(0))) + 1);
for (let byte = 0; byte < LETTERS.length; byte += 1) BYTES[LETTERS.charCodeAt(byte)] = byte;

/**
 * Bytes as a text that has one letter for each, so that they can be split and compared like text whatever they mean.
 */
export function toByteText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** The bytes of such a text. */
export function toBytes(byteText: string): Uint8Array {
  const bytes = new Uint8Array(byteText.length);
  for (let at = 0; at < byteText.length; at += 1) bytes[at] = BYTES[byteText.charCodeAt(at)]!;
  return bytes;
}
