/** The query of the next page (RFC 8288). */
export function nextOf({ headers }: Pick<Response, "headers">): string | undefined {
  return /^<(\?.*)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
}
