import { PlantStoreError } from "../errors.ts";
import type { HttpRequest } from "./wire/connection.ts";

/** `uri-host [ ":" port ]` of RFC 9110, 7.2, of which neither is empty. Several headers come joined with ", ", which no host has in it. */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+|\[[\da-f:.]+\])(?::(\d+))?$/i;

const PORT_MAX = 65_535;

/** Refuses a request with two hosts, or with what is none (RFC 9112, 3.2). HTTP/1.1 without any is refused before; HTTP/1.0 may have none. */
export function checkHost({ headers, authority }: Pick<HttpRequest, "headers" | "authority">): void {
  const host = headers.get("host");
  if (host !== null) check(host);
  if (authority !== undefined) check(authority);
}

function check(host: string): void {
  const match = HOST.exec(host);
  if (!match || Number(match[1] ?? 0) > PORT_MAX) throw new PlantStoreError("invalid_host");
}
