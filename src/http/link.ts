/** The parameters of a query. What is undefined is left out. */
export type LinkQuery = Readonly<Record<string, bigint | boolean | number | string | undefined>>;

/** The header that leads to another page of the same list, relative to the request target (RFC 8288, 3.1). */
export function linkTo(query: LinkQuery): Readonly<{ link: string }> {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return { link: `<?${given.join("&")}>; rel="next"` };
}
