import { PlantStoreError } from "../domain/errors.ts";
import { createFairShares } from "../runtime/fair-shares.ts";
import type { HttpResponse } from "./wire/response.ts";

/**
 * Counts what a response may keep in memory until it is read. Throws `overloaded` when its owner has too much there
 * already.
 */
export type ResponseBudget = (response: HttpResponse, owner: string) => HttpResponse;

/** Smaller bodies are not counted: the system takes them over at once. In characters or bytes. */
const COUNTED_LENGTH_MIN = 65_536;

/**
 * What all responses together may keep in memory, in bytes. An owner has its share.
 *
 * @limit reads: large responses in memory that are not read yet
 */
const BYTES_MAX = 64 * 1024 * 1024;

/**
 * This many of the largest plants always have room: written as JSON, a plant may be six times as long.
 *
 * @limit reads: or as many of the largest bodies, if that is more
 */
const PLANTS_MIN = 16;

export function createResponseBudget({ bodyBytesMax }: { bodyBytesMax: number }): ResponseBudget {
  const shares = createFairShares(Math.max(BYTES_MAX, PLANTS_MIN * bodyBytesMax));
  return (response, owner) => {
    const bytes = toLargeBytes(response.body);
    if (!bytes) return response;
    const release = shares.take(owner, bytes.length);
    if (!release) throw new PlantStoreError("overloaded");
    return { ...response, body: bytes, onSent: release };
  };
}

/**
 * The body as it is kept: as bytes, which are sent as they are. A text would be copied first. Undefined for what is
 * small, and for streams.
 */
function toLargeBytes(body: HttpResponse["body"]): Uint8Array | undefined {
  const isWhole = typeof body === "string" || body instanceof Uint8Array;
  if (!isWhole || body.length < COUNTED_LENGTH_MIN) return undefined;
  return typeof body === "string" ? Buffer.from(body) : body;
}
