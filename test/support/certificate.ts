import { generateKeyPairSync, sign } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

/** A certificate that signs itself, in the files that the configurations of deploy/ name. */
export type Certificate = Readonly<{ folder: string; text: string; path: string }>;

/** For localhost and 127.0.0.1, for two days. */
export function makeCertificate(): Certificate {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const path = join(folder, "fullchain.pem");
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  const content = toBeSigned(publicKey.export({ type: "spki", format: "der" }));
  const signature = sign("sha256", content, privateKey);
  const text = toPem(der(SEQUENCE, content, ECDSA_WITH_SHA256, der(BIT_STRING, [0], signature)));
  writeFileSync(path, text);
  writeFileSync(join(folder, "privkey.pem"), key);
  writeFileSync(join(folder, "all.pem"), text + key);
  return { folder, path, text };
}

// The DER of X.509, RFC 5280 4.1: nothing of the runtime makes a certificate.
const [INTEGER, BIT_STRING, OCTET_STRING, OID, UTF8, UTC_TIME] = [0x02, 0x03, 0x04, 0x06, 0x0c, 0x17];
const [SEQUENCE, SET, NAME_OF_HOST, ADDRESS, VERSION, EXTENSIONS] = [0x30, 0x31, 0x82, 0x87, 0xa0, 0xa3];
const ECDSA_WITH_SHA256 = der(SEQUENCE, der(OID, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
const COMMON_NAME = [0x55, 0x04, 0x03];
const SUBJECT_ALTERNATIVE_NAMES = [0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];
const DAY_MS = 24 * 3_600_000;

function toBeSigned(publicKey: Uint8Array): Uint8Array {
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, der(OID, COMMON_NAME), der(UTF8, Buffer.from("localhost")))));
  const [yesterday, tomorrow] = [-DAY_MS, DAY_MS].map((ms) => der(UTC_TIME, Buffer.from(toUtcTime(new Date(Date.now() + ms)))));
  const names = der(SEQUENCE, der(NAME_OF_HOST, Buffer.from("localhost")), der(ADDRESS, [127, 0, 0, 1]));
  const isAuthority = der(SEQUENCE, [0x01, 0x01, 0xff]);
  const extensions = [extension(SUBJECT_ALTERNATIVE_NAMES, names), extension(BASIC_CONSTRAINTS, isAuthority)];
  return der(
    SEQUENCE,
    der(VERSION, der(INTEGER, [2])),
    // Caches of browsers and proxies tell certificates of one issuer apart by it.
    der(INTEGER, [1, ...crypto.getRandomValues(new Uint8Array(8))]),
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, yesterday!, tomorrow!),
    name,
    publicKey,
    der(EXTENSIONS, der(SEQUENCE, ...extensions)),
  );
}

function extension(oid: readonly number[], value: Uint8Array): Uint8Array {
  return der(SEQUENCE, der(OID, oid), der(OCTET_STRING, value));
}

/** One value: its tag, its length and its content. */
function der(tag: number, ...parts: ReadonlyArray<Uint8Array | readonly number[]>): Uint8Array {
  const content = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Uint8Array.from([tag, ...size]), content]);
}

function toUtcTime(date: Date): string {
  return `${date.toISOString().replaceAll(/\D/g, "").slice(2, 14)}Z`;
}

function toPem(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString("base64")
    .replaceAll(/.{1,64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}
