/** Parameters by name. Those that are undefined are left out. */
export type Query = Readonly<Record<string, bigint | boolean | number | string | undefined>>;

/** The query as text, with its question mark; empty when nothing is asked. Throws a URIError when a text is no Unicode. */
export function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
  return text === "" ? "" : `?${text}`;
}
