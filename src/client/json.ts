/**
 * Parses JSON and reads every field `id` and `firstId` that is a number as an exact bigint. JSON.parse alone rounds ids to doubles, silently wrong
 * past 2^53. Throws a SyntaxError, or a TypeError for such an id in a browser too old to give its digits.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, reviveId);
}

/** Reads a list, each item with `parse`. Throws a TypeError. */
export function parseList<Item>(value: unknown, parse: (item: unknown) => Item): Item[] {
  if (!Array.isArray(value)) throw new TypeError("not a list");
  return value.map((item) => parse(item));
}

/** Throws a TypeError if the value is not an object. */
export function parseFields(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new TypeError("not an object");
  return value as Readonly<Record<string, unknown>>;
}

/** Reads a value of parsed JSON. Throws a TypeError if it is something else. */
type Parse<Value> = (value: unknown) => Value;

/** How to read each field of an object. One that is read as undefined is left out. */
export type Fields<Result> = Readonly<{ [Key in keyof Result]-?: Parse<Result[Key] | undefined> }>;

/** Reads an object and drops unknown fields. Throws a TypeError. */
export function parseObject<Result>(value: unknown, fields: Fields<Result>): Result {
  const given = parseFields(value);
  const read = Object.entries<Parse<unknown>>(fields).map(([name, parse]) => [name, parse(given[name])] as const);
  return Object.fromEntries(read.filter(([, one]) => one !== undefined)) as Result;
}

/** For a field that may be missing. */
export function optional<Value>(parse: Parse<Value>): Parse<Value | undefined> {
  return (value) => (value === undefined ? undefined : parse(value));
}

/** Throws a TypeError. */
export function parseText(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("not a text");
  return value;
}

/** Throws a TypeError. */
export function parseBigInt(value: unknown): bigint {
  if (typeof value !== "bigint") throw new TypeError("not a whole number");
  return value;
}

/** Throws a TypeError. */
export function parseBoolean(value: unknown): boolean {
  if (typeof value !== "boolean") throw new TypeError("neither true nor false");
  return value;
}

/** Throws a TypeError. */
export function parseNumber(value: unknown): number {
  if (typeof value !== "number") throw new TypeError("not a number");
  return value;
}

export function oneOf<Word extends string>(...words: readonly Word[]): Parse<Word> {
  return (value) => {
    const found = words.find((word) => word === value);
    if (found === undefined) throw new TypeError(`none of ${words.join(", ")}`);
    return found;
  };
}

/**
 * `context` holds the digits of a number as sent, from Chrome 114, Firefox 135, Safari 18.4 and Node 22 on, and in Bun.
 */
function reviveId(key: string, value: unknown, context?: { source?: string }): unknown {
  if ((key !== "id" && key !== "firstId") || typeof value !== "number") return value;
  if (context?.source !== undefined) return BigInt(context.source);
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw new TypeError("This browser rounds ids past 2^53: use a newer one.");
}
