import type { Sorting } from "../../page.ts";

/**
 * What the tokens of places in the list of all plants begin with. In the list of a tag they begin with the token of the
 * tag, so that such a list has an order of its own.
 */
export const ALL_PLANTS = "#";

/** Follows in the token of a place, and what would come behind all of them. No other token has either there. */
const MARKS = {
  name: { start: "x", end: "y" },
  time: { start: "y", end: "z" },
} as const satisfies Record<Sorting["by"], unknown>;

/** The time in a token, in microseconds: as many as fourteen hexadecimal digits can say. */
const TIME_DIGITS = 14;
const TIME_MAX = 16n ** BigInt(TIME_DIGITS) - 1n;

/** The tokens of the places of a list. */
export type TokenRange = Readonly<{
  /** From here on, and below the end. */
  start: string;
  end: string;
  toToken(key: string): string;
  toKey(token: string): string;
}>;

export function placesOf(list: string, by: Sorting["by"]): TokenRange {
  const { start, end } = MARKS[by];
  const from = list + start;
  return {
    start: from,
    end: list + end,
    toToken: (key) => from + (by === "name" ? key : timeDigits(BigInt(key))),
    toKey: (token) => (by === "name" ? token.slice(from.length) : String(TIME_MAX - BigInt(`0x${token.slice(from.length)}`))),
  };
}

/** The key of a plant's place among the newest: the nearest time that a token can say. */
export function timeKey(added: bigint | null): string {
  return String(withinToken(added ?? 0n));
}

/** A time in a token: that of a later one comes first. */
export function timeDigits(added: bigint | null): string {
  return (TIME_MAX - withinToken(added ?? 0n)).toString(16).padStart(TIME_DIGITS, "0");
}

function withinToken(time: bigint): bigint {
  return time < 0n ? 0n : time > TIME_MAX ? TIME_MAX : time;
}

/** Where a plant is in each order: the key of its name, and its time as `timeDigits` has it. */
export type PlaceKeys = Readonly<{ nameKey: string; time: string }>;

/** The tokens of a plant's places in a list. */
export function placeTokens(list: string, { nameKey, time }: PlaceKeys): string {
  return `${list}${MARKS.name.start}${nameKey} ${list}${MARKS.time.start}${time}`;
}
