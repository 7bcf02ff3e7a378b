import type { Order } from "../../page.ts";

/** What the token of a plant's place begins with, which no other token does, and what comes behind all of them. */
export const PLACES = {
  name: { start: "#x", end: "#y" },
  newest: { start: "#y", end: "#z" },
} as const satisfies Record<Order, unknown>;

/** The time in a token, in microseconds: as many as fourteen hexadecimal digits can say. */
const TIME_DIGITS = 14;
const TIME_MAX = 16n ** BigInt(TIME_DIGITS) - 1n;

/** The key of a plant's place among the newest. */
export function timeKey(added: bigint | null): string {
  return String(added ?? 0n);
}

/** The token of a place in an order, by the key of that. */
export function tokenOfPlace(order: Order, key: string): string {
  const { start } = PLACES[order];
  if (order === "name") return start + key;
  // The token of a later time comes first.
  const time = BigInt(key);
  const rest = TIME_MAX - (time < 0n ? 0n : time > TIME_MAX ? TIME_MAX : time);
  return start + rest.toString(16).padStart(TIME_DIGITS, "0");
}

/** The key that a token of a place was made from. */
export function keyOfToken(order: Order, token: string): string {
  const key = token.slice(PLACES[order].start.length);
  return order === "name" ? key : String(TIME_MAX - BigInt(`0x${key}`));
}
