/** Parameters by name. Undefined ones are left out. */
export type Query = Readonly<Record<string, bigint | boolean | number | string | undefined>>;

/**
 * The query string with its question mark; empty if there are no parameters. Throws a URIError if a text is not valid
 * Unicode.
 */
export function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
  return text === "" ? "" : `?${text}`;
}
