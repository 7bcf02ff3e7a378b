import { createHmac, hash } from "node:crypto";
import { crc32 } from "node:zlib";

const PREFIX = "plant_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const FORM = /^plant_[0-9A-Za-z]{38}$/;

/** Gives as many random bytes as asked for, from a cryptographic source. */
export type RandomBytes = (size: number) => Uint8Array;

/**
 * Makes a bearer token: `plant_`, 32 random base62 characters (190 bits), and 6 that hold their CRC-32, so that garbage is
 * refused, and a leaked token found by a secret scanner, without asking the store. The checksum proves nothing else.
 */
export function createToken(random: RandomBytes): string {
  const secret = randomText(random, SECRET_LENGTH);
  return PREFIX + secret + checksum(secret);
}

/** Whether a text has the form of a token and its checksum is right. */
export function hasTokenForm(text: string): boolean {
  if (!FORM.test(text)) return false;
  const secret = text.slice(PREFIX.length, PREFIX.length + SECRET_LENGTH);
  return text.endsWith(checksum(secret));
}

/**
 * The SHA-256 of a token in hexadecimal: all that is stored of it. A slow password hash would protect nothing here, as the
 * token is random, and would let anybody keep the service busy.
 */
export function hashToken(token: string): string {
  return hash("sha256", token, "hex");
}

/**
 * Bytes that follow from a secret and a text, and that nobody can tell from random ones who does not know the secret: HMAC-SHA256 as a
 * pseudo-random function of a counter and the text (NIST SP 800-108, 4.1). Each call gives the bytes that come next.
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

/** Random base62 characters, each as likely as any other. */
export function randomText(random: RandomBytes, length: number): string {
  let text = "";
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte; a byte above it would favour the first characters.
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
