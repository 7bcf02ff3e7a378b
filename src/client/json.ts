/**
 * Parses JSON with every field `id` as the bigint that its digits say. A native parse would round it to a double first,
 * which is silently wrong past 2^53. Throws a SyntaxError, or a TypeError in a browser too old to tell the digits of such an id.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, reviveId);
}

/** `context` holds the text of a number as it came: Chrome 114, Firefox 135, Safari 18.4, Node 22, Bun. */
function reviveId(key: string, value: unknown, context?: { source?: string }): unknown {
  if (key !== "id" || typeof value !== "number") return value;
  if (context?.source !== undefined) return BigInt(context.source);
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw new TypeError("This browser rounds ids past 2^53: use a newer one.");
}
