/** Parameters by name. Undefined ones are left out. */
export type Query = Readonly<Record<string, bigint | boolean | number | string | undefined>>;

/**
 * The query string with its question mark; empty if there are no parameters. Throws a URIError if a text is not valid
 * Unicode, and a RangeError for a number that was rounded: an id is a bigint.
 */
export function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const rounded = given.find(([, value]) => typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER);
  if (rounded) throw new RangeError(`${rounded[0]} is a number that has been rounded: give a bigint, such as 1n.`);
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
  return text === "" ? "" : `?${text}`;
}
