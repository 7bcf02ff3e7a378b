import { createPlant } from "../../contract/generated/bodies.ts";
import type { JsonBody } from "../../contract/generated/bodies.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { decodeBody, parseJson } from "../domain/json.ts";
import { checkBody } from "../domain/validation.ts";
import { ByteQueue } from "../runtime/byte-queue.ts";
import type { HttpRequest } from "./wire/request.ts";
import type { Fields } from "./wire/fields.ts";

/** A body that is read as it arrives. */
export type BodyStream = Readonly<{
  type: string;
  /** As they arrive: to be unpacked if `isPacked`. */
  bytes: AsyncIterable<Uint8Array>;
  isPacked: boolean;
}>;

/**
 * Refuses a body whose declared type we do not read: one that is not in `patchTypes` for a patch, one that is not JSON
 * for anything else. A body without Content-Type is read as JSON.
 */
export function checkBodyHeaders(headers: Fields, patchTypes?: readonly string[]): void {
  if (headers.once(isPlainJson)) return;
  checkCoding(headers);
  const type = headers.get("content-type");
  if (type === null) return;
  if (patchTypes) return checkPatchType(type, patchTypes);
  if (!/^\s*application\/json\s*(;|$)|^\s*[\w.!#$&^-]+\/[\w.!#$&^+-]+\+json\s*(;|$)/i.test(type))
    throw new PlantStoreError("unsupported_media_type");
  checkCharset(type);
}

/** A type that every operation takes. */
function isPlainJson(headers: Fields): boolean {
  return headers.get("content-encoding") === null && headers.get("content-type") === "application/json";
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
  // A body of JSON is never packed.
  const isFile = !types.includes("application/json");
  const isPacked = isFile && /^(x-)?gzip$/i.test(headers.get("content-encoding") ?? "");
  if (!isPacked) checkCoding(headers, isFile ? STREAM_CODINGS : undefined);
  const declared = headers.get("content-type") ?? types[0]!;
  const type = essenceOf(declared);
  if (!types.includes(type)) {
    const message = `The body is declared as another media type: send the header Content-Type: ${types.join(" or ")}.`;
    throw new PlantStoreError("unsupported_media_type", { message, headers: { accept: types.join(", ") } });
  }
  checkCharset(declared, types);
  return { type, bytes: body, isPacked };
}

/** How a body that is read as it arrives may be encoded (RFC 9110, 8.4.1.3: x-gzip is gzip). */
const STREAM_CODINGS = "gzip, identity";

function checkCoding(headers: Fields, accepted?: string): void {
  const coding = headers.get("content-encoding");
  if (coding === null || coding.toLowerCase() === "identity") return;
  if (accepted === undefined) throw new PlantStoreError("unsupported_encoding");
  const message = "The body is encoded in a way that the service does not read: send it plain, or with Content-Encoding: gzip.";
  throw new PlantStoreError("unsupported_encoding", { message, headers: { "accept-encoding": accepted } });
}

function checkCharset(type: string, types: readonly string[] = ["application/json"]): void {
  const [, quoted, token] = /;\s*charset\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";]*))/i.exec(type) ?? [];
  // RFC 9110, 5.6.4: a quoted pair is the same text.
  const charset = quoted?.replaceAll(/\\(.)/g, "$1") ?? token;
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
  if (!whole) return readPieces(request.headers, request.body, bytesMax);
  if (whole.length > bytesMax) throw tooLarge(bytesMax);
  return whole;
}

/** Reads a whole body as it arrives. Throws as `readBody` does. */
export async function readPieces(headers: Fields, body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  // Two equal headers arrive as "5, 5", which is valid (RFC 9110, 8.6): then the bytes are counted.
  if (Number(headers.get("content-length")) > bytesMax) throw tooLarge(bytesMax);
  const read = new ByteQueue();
  for await (const piece of body) {
    read.put(piece);
    if (read.length() > bytesMax) throw tooLarge(bytesMax);
  }
  return read.bytes();
}

function tooLarge(bytesMax: number): PlantStoreError {
  return new PlantStoreError("body_too_large", { message: `The body is larger than ${bytesMax} bytes: send a smaller one.` });
}

/**
 * A body of a create as most clients write it: these fields in this order, no escapes, an id of at most 18 digits. The
 * last class has every character but the quote, the backslash and controls.
 */
const USUAL_CREATE = /^\{"id": ?(0|-?[1-9]\d{0,17}), ?"name": ?"([ !#-[\]-\uffff]*)"(?:, ?"tag": ?"([ !#-[\]-\uffff]*)")?\}$/;

/**
 * Parses a JSON body and validates it against the contract. Throws as `decodeBody`, `parseJson` and `checkBody` do. The
 * usual create is read in one pass instead of four, with the same result: without escapes, UTF-8 has no lone
 * surrogates.
 */
export function parseBody<Value>(body: JsonBody<Value>, bytes: Uint8Array): unknown {
  const text = decodeBody(bytes);
  const usual = body.isValid === createPlant.isValid ? USUAL_CREATE.exec(text) : null;
  if (!usual) return checkBody(body, parseJson(text));
  const [, id = "", name = "", tag] = usual;
  return tag === undefined ? { id: BigInt(id), name } : { id: BigInt(id), name, tag };
}
