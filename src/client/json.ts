/**
 * Parses JSON and reads every field `id` as an exact bigint. JSON.parse alone rounds ids to doubles, silently wrong
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

/** Throws a TypeError. */
export function parseText(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("not a text");
  return value;
}

/**
 * `context` holds the digits of a number as sent, from Chrome 114, Firefox 135, Safari 18.4 and Node 22 on, and in Bun.
 */
function reviveId(key: string, value: unknown, context?: { source?: string }): unknown {
  if (key !== "id" || typeof value !== "number") return value;
  if (context?.source !== undefined) return BigInt(context.source);
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw new TypeError("This browser rounds ids past 2^53: use a newer one.");
}
