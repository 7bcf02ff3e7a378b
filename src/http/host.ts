import { PlantStoreError } from "../domain/errors.ts";
import type { HttpRequest } from "./wire/request.ts";
import type { Fields } from "./wire/fields.ts";

/**
 * `uri-host [ ":" port ]` of RFC 9110, 7.2, neither part empty. Several headers arrive joined with ", ", which no host
 * contains.
 */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+|\[[\da-f:.]+\])(?::(\d+))?$/i;

const PORT_MAX = 65_535;

/**
 * Refuses a request with two hosts, or with an invalid one (RFC 9112, 3.2). HTTP/1.1 without a host is refused earlier;
 * HTTP/1.0 may have none.
 */
export function checkHost({ headers, authority }: Pick<HttpRequest, "headers" | "authority">): void {
  if (!headers.once(hasValidHost) || (authority !== undefined && !isValid(authority))) throw new PlantStoreError("invalid_host");
}

function hasValidHost(headers: Fields): boolean {
  const host = headers.get("host");
  return host === null || isValid(host);
}

function isValid(host: string): boolean {
  const match = HOST.exec(host);
  return match !== null && Number(match[1] ?? 0) <= PORT_MAX;
}
