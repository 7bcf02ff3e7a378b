import { PlantStoreError } from "../errors.ts";
import { createFairShares } from "../fair-shares.ts";
import type { HttpResponse } from "./wire/response.ts";

/** Counts what of an answer may have to stay in memory until it is read. Throws `overloaded` when its owner has too much there already. */
export type ResponseBudget = (answer: HttpResponse, owner: string) => HttpResponse;

/** Smaller ones are not worth counting, in characters or bytes: the system takes them over at once. */
const COUNTED_LENGTH_MIN = 65_536;

/** What all answers together may keep in memory, of which an owner has its share. In bytes. */
const BYTES_MAX = 64 * 1024 * 1024;

/** So many of the largest plants always have room: written as JSON, one may be six times as long as it is. */
const PLANTS_MIN = 16;

export function createResponseBudget({ bodyBytesMax }: { bodyBytesMax: number }): ResponseBudget {
  const shares = createFairShares(Math.max(BYTES_MAX, PLANTS_MIN * bodyBytesMax));
  return (answer, owner) => {
    const bytes = toLargeBytes(answer.body);
    if (!bytes) return answer;
    const release = shares.take(owner, bytes.length);
    if (!release) throw new PlantStoreError("overloaded");
    return { ...answer, body: bytes, onSent: release };
  };
}

/**
 * The body as it is kept: as bytes, which are sent as they are; of a text there would be a copy beside it. Undefined for what is small, and
 * for what is made piece by piece as it is read.
 */
function toLargeBytes(body: HttpResponse["body"]): Uint8Array | undefined {
  if (body === undefined || body instanceof ReadableStream || body.length < COUNTED_LENGTH_MIN) return undefined;
  return typeof body === "string" ? Buffer.from(body) : body;
}
