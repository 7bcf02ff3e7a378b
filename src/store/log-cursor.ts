import type { LogCursor } from "./history.ts";

/** A place in the log, as numbers: where an entry is, in two parts of the engine's own, and its time in microseconds. */
export type LogPlace = Readonly<{ major: bigint; minor: bigint; at: bigint }>;

/**
 * The newest row of the log when the plants were read that lead to a place. A copy has them as they were then, which may
 * be newer than the place. Where that row is gone, as behind a restore, it may have what never was.
 */
export type LogSeen = Omit<LogPlace, "minor">;

const PART_BYTES = 8;
const PLACE_BYTES = 3 * PART_BYTES;
const SEEN_BYTES = 2 * PART_BYTES;

/** In base64url. No character has bits of both a place and what was seen. */
const PLACE_LENGTH = (PLACE_BYTES / 3) * 4;

/** Written again for each cursor: there is one for each change that is read. */
const written = Buffer.alloc(PLACE_BYTES + SEEN_BYTES);
const parts = new DataView(written.buffer, written.byteOffset, written.length);

export function toLogCursor({ major, minor, at }: LogPlace, seen?: LogSeen): LogCursor {
  parts.setBigUint64(0, major);
  parts.setBigUint64(PART_BYTES, minor);
  parts.setBigUint64(2 * PART_BYTES, at);
  if (!seen) return written.toString("base64url", 0, PLACE_BYTES);
  parts.setBigUint64(PLACE_BYTES, seen.major);
  parts.setBigUint64(PLACE_BYTES + PART_BYTES, seen.at);
  return written.toString("base64url");
}

/** Undefined for a text that is no cursor. One that was made up is a place too: that nothing is there shows when it is read. */
export function parseLogCursor(text: string): (LogPlace & Readonly<{ seen?: LogSeen }>) | undefined {
  const bytes = Buffer.from(text, "base64url");
  // What is no base64url is left out when it is decoded.
  if (bytes.toString("base64url") !== text) return undefined;
  const read = (index: number) => bytes.readBigUInt64BE(index * PART_BYTES);
  if (bytes.length !== PLACE_BYTES && bytes.length !== PLACE_BYTES + SEEN_BYTES) return undefined;
  const place = { major: read(0), minor: read(1), at: read(2) };
  return bytes.length === PLACE_BYTES ? place : { ...place, seen: { major: read(3), at: read(4) } };
}

/** The same for all cursors that lead to one place. */
export function placeText(cursor: LogCursor): string {
  return cursor.slice(0, PLACE_LENGTH);
}

/** The place of a cursor for someone who has read what leads to another one, later. */
export function withSeenOf(cursor: LogCursor, later: LogCursor): LogCursor {
  return placeText(cursor) + later.slice(PLACE_LENGTH);
}
