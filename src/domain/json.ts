import { PlantStoreError } from "./errors.ts";

declare global {
  interface JSON {
    /** TC39 "JSON.parse source text access": missing in TypeScript's own library. */
    rawJSON(text: string): unknown;
  }
}

/** How deeply a body may be nested; the outermost object counts as one. */
const JSON_DEPTH_MAX = 32;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes a whole body of UTF-8 and drops a byte order mark. Throws as `decodeUtf8` does. */
export function decodeBody(bytes: Uint8Array | ArrayBuffer): string {
  const text = decodeUtf8(bytes);
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/**
 * Decodes UTF-8. Throws `invalid_unicode` on anything that is not UTF-8 (RFC 3629). Without a cause, as in `parseNative`:
 * an import keeps thousands of refusals, and the garbage collector makes the stack trace of each cause in one go.
 */
export function decodeUtf8(bytes: Uint8Array | ArrayBuffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new PlantStoreError("invalid_unicode");
  }
}

/**
 * Parses a JSON text (RFC 8259) and keeps what a native parse loses of the outermost object. A member that is a whole
 * number within int64 becomes the `bigint` that its digits say (`1e3` is 1000n, `1.0` is 1n); every other number stays
 * a `number`. A repeated key is refused (RFC 7493, 2.3: two readers could see two objects). Objects and lists inside are
 * read like that down to `levels`, others as the native parser reads them. Throws `malformed_json`, `nested_too_deep` or
 * `duplicate_key`.
 */
export function parseJson(text: string, levels = 1): unknown {
  const value = parseNative(text);
  if (isObject(value)) readExactly(text, value, levels);
  return value;
}

/**
 * The exact whole number that a JSON number stands for; undefined when it has a fraction or is outside int64. Digits
 * are counted, never expanded: 1e999999999 costs no more than 1.
 */
export function parseInt64(literal: string): bigint | undefined {
  if (/^-?\d{1,18}$/.test(literal)) return BigInt(literal);
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (!match) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  const first = countZeros(digits, "start");
  if (first === digits.length) return 0n;
  const trailing = countZeros(digits, "end");
  const significant = digits.slice(first, digits.length - trailing);
  // An exponent too long for a double becomes infinite or slightly wrong. Either way it is far outside int64.
  const zeros = Number(exponent) - fraction.length + trailing;
  if (zeros < 0 || significant.length + zeros > INT64_DIGITS_MAX) return undefined;
  const value = BigInt(`${sign}${significant}${"0".repeat(zeros)}`);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

const INT64_DIGITS_MAX = 19;

// A loop, because /0+$/ takes quadratic time for zeros that are not at the end.
function countZeros(digits: string, side: "start" | "end"): number {
  let count = 0;
  while (count < digits.length && digits.at(side === "start" ? count : -1 - count) === "0") count += 1;
  return count;
}

function parseNative(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PlantStoreError("malformed_json");
  }
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** An object or list that is read exactly: how many keys it is written with, and which item comes. */
type Open = { readonly inside: Record<string, unknown>; readonly isList: boolean; keys: number; item: number };

/**
 * One pass over the text of an object that the native parser has accepted. Replaces rounded numbers with exact ones, and
 * counts the keys of each object. Native `context.source` gives the digits too, but takes twice as long and cannot see a
 * repeated key.
 */
function readExactly(text: string, outermost: Record<string, unknown>, levels: number): void {
  const outer: Open[] = [];
  let open = toOpen({ "": outermost }, "");
  let depth = 0;
  let keyStart = 0;
  let keyEnd = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      keyStart = at;
      at = keyEnd = endOfString(text, at);
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) throw new PlantStoreError("nested_too_deep");
      if (depth === 1 || depth > levels) continue;
      outer.push(open);
      open = toOpen(open.inside, open.isList ? open.item : unescapeKey(text.slice(keyStart, keyEnd + 1)));
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      if (depth <= levels) checkKeys(open);
      if (depth > 1 && depth <= levels) open = outer.pop()!;
      depth -= 1;
    } else if (char === COMMA && depth <= levels) {
      open.item += 1;
    } else if (char === COLON && depth <= levels) {
      open.keys += 1;
      const start = skipSpace(text, at + 1);
      const end = endOfNumber(text, start);
      if (end === start) continue;
      const key = unescapeKey(text.slice(keyStart, keyEnd + 1));
      open.inside[key] = parseInt64(text.slice(start, end)) ?? open.inside[key];
    }
  }
}

/** If a key was written twice, the text may have an object or list where the native parser kept something else. */
function toOpen(container: Record<string, unknown>, at: number | string): Open {
  const inside = container[at];
  if (typeof inside !== "object" || inside === null) throw new PlantStoreError("duplicate_key");
  return { inside: inside as Record<string, unknown>, isList: Array.isArray(inside), keys: 0, item: 0 };
}

function checkKeys({ inside, isList, keys }: Open): void {
  if (!isList && keys !== Object.keys(inside).length) throw new PlantStoreError("duplicate_key");
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The index of the quote that closes the string opened at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= SPACE) at += 1;
  return at;
}

/** The end of the number at `start`; `start` itself when there is none. */
function endOfNumber(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first !== MINUS && (first < DIGIT_0 || first > DIGIT_9)) return start;
  let at = start + 1;
  for (let char = text.charCodeAt(at); char > SPACE && char !== COMMA && char !== CLOSE_BRACE; char = text.charCodeAt(at)) at += 1;
  return at;
}

function unescapeKey(quoted: string): string {
  return quoted.includes("\\") ? JSON.parse(quoted) : quoted.slice(1, -1);
}

declare global {
  interface JSON {
    /** A number of these digits (tc39.es/proposal-json-parse-with-source), which TypeScript does not know yet. */
    rawJSON(digits: string): object;
  }
}

/** JSON with the digits of each bigint, which JSON.stringify alone refuses. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? JSON.rawJSON(String(one)) : one));
}
