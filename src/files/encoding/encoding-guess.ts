import { rankEncodings } from "./encoding-ranking.ts";
import { openTextDecoder } from "./encodings.ts";
import { isLikelyWindows1252 } from "./western-letters.ts";

/** `encoding` is the likeliest, by its name in the standard; `others` could be it too, unless it is certain. */
export type EncodingGuess = Readonly<{ encoding: string; isCertain: boolean; others: readonly string[] }>;

/**
 * The encoding of a file that begins with this, without a mark. Certain are UTF-8, UTF-16 and likely Windows-1252; for
 * others a person must be asked. The sample may end within a letter.
 */
export function guessEncoding(sample: Uint8Array): EncodingGuess {
  if (sample.includes(0)) return guessUtf16(sample.subarray(0, TELLING_BYTES_MAX));
  const text = decodeFatally(sample, "utf-8");
  if (text !== undefined && isShifted(text)) return asked(SHIFTED_JAPANESE.test(text) ? ["iso-2022-jp", "utf-8"] : ["utf-8"]);
  // Without a space or a digit, UTF-16 may have no zeros.
  if (text !== undefined && CONTROLS.test(text.endsWith(END_OF_DOS) ? text.slice(0, -1) : text))
    return asked(["utf-16le", "utf-16be", "utf-8"]);
  const lines = linesBeyondAscii(sample);
  if (text !== undefined && !isByChance(text, lines)) return certain("utf-8");
  const isWestern = text === undefined && isLikelyWindows1252(new TextDecoder("windows-1252").decode(lines));
  if (isWestern) return certain("windows-1252");
  if (text === undefined && isBroken(lines)) return certain("utf-8");
  return asked([...(text === undefined ? [] : ["utf-8"]), ...rankEncodings(lines.subarray(0, RANKED_BYTES_MAX))]);
}

/** Whether it is UTF-8 in which a few letters are broken: their rows are refused. */
function isBroken(lines: Uint8Array): boolean {
  const text = new TextDecoder().decode(lines);
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  const whole = text.match(/[^\0-\x7f\ufffd]/gu) ?? [];
  return whole.length >= broken * WHOLE_FOR_BROKEN && !whole.some((letter) => RARE.test(letter));
}

/** So many letters of UTF-8 beside each that is broken are no accident. */
const WHOLE_FOR_BROKEN = 10;

function certain(encoding: string): EncodingGuess {
  return { encoding, isCertain: true, others: [] };
}

const OTHERS_MAX = 5;

function asked([encoding = "windows-1252", ...others]: readonly string[]): EncodingGuess {
  return { encoding, isCertain: false, others: others.slice(0, OTHERS_MAX) };
}

/** In UTF-16 the zeros of ASCII are all at even places, or all at odd ones; few other letters have zeros. */
function guessUtf16(sample: Uint8Array): EncodingGuess {
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2]! += 1;
  const encoding = zeros[1]! >= zeros[0]! ? "utf-16le" : "utf-16be";
  const text = decodeFatally(sample, encoding);
  // A few zeros are no more than a broken text.
  const isText = text !== undefined && !NO_TEXT.test(text) && Math.min(...zeros) * 4 <= Math.max(...zeros) && /[\r\n]/.test(text);
  return isText ? certain(encoding) : asked([encoding, encoding === "utf-16le" ? "utf-16be" : "utf-16le", "windows-1252"]);
}

const NO_TEXT = /(?![\t\n\v\f\r])[\p{Cc}\p{Co}\p{Cn}]/u;

const CONTROLS = /(?![\t\n\f\r\x80-\x9f])\p{Cc}/u;
/** With which DOS ends a file. */
const END_OF_DOS = "\x1a";

/** Escape sequences and shifts of 7-bit encodings, and HZ. */
function isShifted(text: string): boolean {
  return ["\x0e", "\x0f", "\x1b"].some((shift) => text.includes(shift)) || /~\{[!-~]+~\}/.test(text);
}

const SHIFTED_JAPANESE = /\p{Cc}(?:\$[@B]|\([BJI])/u;

/** A few letters of other encodings can be valid UTF-8: 칡 is Ĩ then, and хна 孠. */
function isByChance(text: string, lines: Uint8Array): boolean {
  const letters = text.match(/[^\0-\x7f]/gu) ?? [];
  if (letters.length === 0 || letters.length > BY_CHANCE_MAX) return false;
  const isSmallCyrillicOfDos =
    lines.every((byte) => byte < 0x80 || (byte >= 0xa0 && byte <= 0xaf) || byte >= 0xe0) && lines.some((byte) => byte >= 0xe0);
  return (
    isSmallCyrillicOfDos ||
    letters.every((letter) => RARE.test(letter)) ||
    TWO_SCRIPTS.test(text) ||
    !/[^\0-\x7f]/.test(text.replaceAll(LONE_WORD, ""))
  );
}

const BY_CHANCE_MAX = 6;
const TWO_SCRIPTS = /[A-Za-z][\u0370-\u1dff]|[\u0370-\u1dff][A-Za-z]/;
const RARE = /[\u0250-\u036f\u0700-\u08ff\u1b00-\u1bff\p{Cn}\p{Co}]/u;
/** But not those that are words by themselves, as in Pin à crochets. */
const LONE_WORD = /(?<!\p{L})(?![àéèóöøåäÀÉÓÖØÅÄ×÷](?!\p{L}))[\u00c0-\u024f]+(?!\p{L})/gu;

/** Only they say something, and a large list in English has few. */
function linesBeyondAscii(sample: Uint8Array): Uint8Array {
  const lines = new Uint8Array(Math.min(sample.length, TELLING_BYTES_MAX));
  let length = 0;
  let start = 0;
  let isTelling = false;
  for (let at = 0; at <= sample.length; at += 1) {
    if (at < sample.length && sample[at] !== 0x0a) {
      isTelling ||= sample[at]! > 0x7f;
      continue;
    }
    if (isTelling) {
      const line = sample.subarray(start, Math.min(at + 1, start + lines.length - length));
      lines.set(line, length);
      length += line.length;
    }
    start = at + 1;
    isTelling = false;
  }
  return lines.subarray(0, length);
}

const TELLING_BYTES_MAX = 65_536;

/** To rank them in every encoding takes some 30 ms. */
const RANKED_BYTES_MAX = 2_048;

/** Undefined if it is not valid, but for a letter that the end cuts off: there are others, or the sample is large. */
function decodeFatally(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    const text = openTextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    const isWhole = encoding !== "utf-8" || bytes.length >= CUT_BYTES_MIN || (bytes.at(-1) ?? 0) < 0x80 || /[^\0-\x7f]/.test(text);
    return isWhole ? text : undefined;
  } catch {
    return undefined;
  }
}

const CUT_BYTES_MIN = 4_096;
