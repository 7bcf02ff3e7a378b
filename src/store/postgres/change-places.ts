import { PlantStoreError } from "../../domain/errors.ts";
import type { LogCursor } from "../history.ts";
import { parseLogCursor, toLogCursor } from "../log-cursor.ts";
import type { LogPlace, LogSeen } from "../log-cursor.ts";

/** A page is small: more than this is too much work. In milliseconds. */
export const HOW = { statementMs: 10_000, isRepeatable: true } as const;

/** Numbers of transactions and times are below. */
export const NUMBER_MAX = 2n ** 63n - 1n;

/** Throws `changes_gone` for what can be no place in the log. */
export function toPlace(cursor: LogCursor): LogPlace & Readonly<{ seen: LogSeen }> {
  const place = parseLogCursor(cursor);
  if (!place) throw new PlantStoreError("changes_gone");
  const { major, minor, at, seen = { major, at } } = place;
  if ([major, minor, at, seen.major, seen.at].some((part) => part >= NUMBER_MAX)) throw new PlantStoreError("changes_gone");
  return { major, minor, at, seen };
}

/** `seen`: the newest row when the plants were read that lead there. */
export function cursorOf([major, minor, at]: readonly [xid: bigint, place: bigint, at: bigint, ...unknown[]], seen?: LogSeen): LogCursor {
  return toLogCursor({ major, minor, at }, seen);
}

/** Whether a row is that of the place. */
export function isAt(
  row: readonly [xid: bigint, place: bigint, at: bigint, ...unknown[]] | undefined,
  { major, minor, at }: LogPlace,
): boolean {
  return row !== undefined && row[0] === major && row[1] === minor && row[2] === at;
}
