import { createFile } from "./static-file.ts";
import type { File } from "./static-file.ts";
import type { HttpRequest } from "./wire/request.ts";

export const SECURITY_TEXT_PATH = "/.well-known/security.txt";

/** The page that says where to report a weakness: SECURITY.md of the project. */
const POLICY = "security-policy.txt";

/** RFC 9116, 2.5.5, asks for less than a year. */
const VALID_DAYS = 180;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Whom to tell about a weakness (RFC 9116). A file made at the start would expire in a service that runs for months.
 * All its addresses are https, as it counts only where it was read over https (RFC 9116, 3).
 */
export function securityText({ headers, authority }: Pick<HttpRequest, "authority" | "headers">, now: number): File {
  const base = `https://${authority ?? headers.get("host") ?? "localhost"}`;
  const expires = new Date((Math.floor(now / DAY_MS) + VALID_DAYS) * DAY_MS).toISOString().replace(".000", "");
  const lines = [
    `Contact: ${base}/${POLICY}`,
    `Expires: ${expires}`,
    "Preferred-Languages: en",
    `Canonical: ${base}${SECURITY_TEXT_PATH}`,
    `Policy: ${base}/${POLICY}`,
    "",
  ];
  // Not for a cache: it names the host that was asked for.
  const header = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  return createFile({ headers: header, body: Buffer.from(lines.join("\n")), packed: [] });
}
