import { PlantStoreError } from "../errors.ts";
import { createByteQueue } from "../byte-queue.ts";
import type { HttpRequest } from "./wire/connection.ts";
import type { Fields } from "./wire/fields.ts";

/** A body that is read as it arrives. */
export type BodyStream = Readonly<{ type: string; bytes: AsyncIterable<Uint8Array> }>;

/**
 * Refuses a body whose declared type we do not read: one that is not in `patchTypes` for a patch, one that is not JSON
 * for anything else. A body without Content-Type is read as JSON.
 */
export function checkBodyHeaders(headers: Fields, patchTypes?: readonly string[]): void {
  checkCoding(headers);
  const type = headers.get("content-type");
  if (type === null || type === "application/json") return;
  if (patchTypes) return checkPatchType(type, patchTypes);
  if (!/^\s*application\/json\s*(;|$)|^\s*[\w.!#$&^-]+\/[\w.!#$&^+-]+\+json\s*(;|$)/i.test(type))
    throw new PlantStoreError("unsupported_media_type");
  checkCharset(type);
}

/** The header that lists the media types of a patch (RFC 5789, 3.1). */
export function acceptPatch(types: readonly string[]): Readonly<Record<"accept-patch", string>> {
  return { "accept-patch": types.join(", ") };
}

function checkPatchType(type: string, types: readonly string[]): void {
  if (!types.includes(essenceOf(type))) {
    const message = `The body is not declared as a merge patch: send the header Content-Type: ${types.join(" or ")}.`;
    throw new PlantStoreError("unsupported_media_type", { message, headers: { accept: types.join(", "), ...acceptPatch(types) } });
  }
  checkCharset(type, types);
}

/** A media type without its parameters. */
function essenceOf(type: string): string {
  return type.split(";", 1)[0]!.trim().toLowerCase();
}

/** Opens a body of one of these types, to be read as it arrives. Without Content-Type it has the first type. */
export function openBody({ headers, body }: HttpRequest, types: readonly string[]): BodyStream {
  checkCoding(headers);
  const declared = headers.get("content-type") ?? types[0]!;
  const type = essenceOf(declared);
  if (!types.includes(type)) {
    const message = `The body is declared as another media type: send the header Content-Type: ${types.join(" or ")}.`;
    throw new PlantStoreError("unsupported_media_type", { message, headers: { accept: types.join(", ") } });
  }
  checkCharset(declared, types);
  return { type, bytes: body };
}

function checkCoding(headers: Fields): void {
  const coding = headers.get("content-encoding");
  if (coding !== null && coding.toLowerCase() !== "identity") throw new PlantStoreError("unsupported_encoding");
}

function checkCharset(type: string, types: readonly string[] = ["application/json"]): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    const message = `The body is declared in a charset other than UTF-8: send UTF-8 and the header Content-Type: ${types.join(" or ")}.`;
    throw new PlantStoreError("unsupported_charset", { message, headers: { accept: types.join(", ") } });
  }
}

/**
 * Reads a whole body, synchronously if it has arrived. Throws `body_too_large` because of its declared length, or as
 * soon as it is exceeded.
 */
export function readBody(request: HttpRequest, bytesMax: number): Promise<Uint8Array> | Uint8Array {
  const whole = request.body.whole();
  if (!whole) return readPieces(request, bytesMax);
  if (whole.length > bytesMax) throw tooLarge(bytesMax);
  return whole;
}

async function readPieces({ headers, body }: HttpRequest, bytesMax: number): Promise<Uint8Array> {
  // Two equal headers arrive as "5, 5", which is valid (RFC 9110, 8.6): then the bytes are counted.
  if (Number(headers.get("content-length")) > bytesMax) throw tooLarge(bytesMax);
  const read = createByteQueue();
  for await (const piece of body) {
    read.put(piece);
    if (read.bytes().length > bytesMax) throw tooLarge(bytesMax);
  }
  return read.bytes();
}

function tooLarge(bytesMax: number): PlantStoreError {
  return new PlantStoreError("body_too_large", { message: `The body is larger than ${bytesMax} bytes: send a smaller one.` });
}
