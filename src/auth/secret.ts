import { createHmac, hash } from "node:crypto";
import { crc32 } from "node:zlib";

const PREFIX = "plant_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const FORM = /^plant_[0-9A-Za-z]{38}$/;

/** Returns this many bytes from a cryptographic source of randomness. */
export type RandomBytes = (size: number) => Uint8Array;

/**
 * Creates a bearer token: `plant_`, 32 random base62 characters (190 bits), and 6 that encode their CRC-32. The
 * checksum lets us reject garbage, and a secret scanner recognize a leaked token, without asking the store. It proves
 * nothing else.
 */
export function createToken(random: RandomBytes): string {
  const secret = randomText(random, SECRET_LENGTH);
  return PREFIX + secret + checksum(secret);
}

/** Whether a text has the form of a token and a correct checksum. */
export function hasTokenForm(text: string): boolean {
  if (!FORM.test(text)) return false;
  const secret = text.slice(PREFIX.length, PREFIX.length + SECRET_LENGTH);
  return text.endsWith(checksum(secret));
}

/**
 * The SHA-256 of a token in hexadecimal, which is all we store of its secret. The token is random, so a slow password
 * hash would add no protection, and anyone could use it to keep the service busy.
 */
export function hashToken(token: string): string {
  return hash("sha256", token, "hex");
}

/**
 * Derives bytes from a secret and a text. Without the secret they cannot be told from random ones: it is HMAC-SHA256 as
 * a pseudo-random function of a counter and the text (NIST SP 800-108, 4.1). Each call returns the next bytes.
 */
export function deriveBytes(secret: string, text: string): RandomBytes {
  let counter = 0;
  return (size) => {
    const blocks: Buffer[] = [];
    for (let length = 0; length < size; length += 32) {
      counter += 1;
      blocks.push(createHmac("sha256", secret).update(`plant-store: a token made once\0${counter}\0${text}`).digest());
    }
    return Buffer.concat(blocks).subarray(0, size);
  };
}

/** Random base62 characters, all equally likely. */
export function randomText(random: RandomBytes, length: number): string {
  let text = "";
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte; larger bytes would favour the first characters.
    for (const byte of random(length)) if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
  }
  return text;
}

function checksum(secret: string): string {
  let rest = crc32(secret);
  let text = "";
  while (text.length < CHECKSUM_LENGTH) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.trunc(rest / 62);
  }
  return text;
}
