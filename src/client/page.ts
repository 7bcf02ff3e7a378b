import type { ParsedResponse } from "./response.ts";
import { parseList, parsePlant } from "./plant.ts";
import type { Plant } from "./plant.ts";

/**
 * `tag`: only plants with exactly this tag. `q`: only plants whose names contain these words. `after`: only plants with
 * a greater id. `limit`: plants per page, 1 to 1,000, default 100.
 */
export type ListQuery = Readonly<{ limit?: number; after?: bigint; tag?: string; q?: string }>;

/** One page of plants, by id. `next` is the query for the following page; the last page has none. */
export type Page = Readonly<{ plants: readonly Plant[]; next?: ListQuery }>;

/** Reads the response to `query`. Throws a TypeError if it is not a page. */
export function parsePage({ body, headers }: ParsedResponse, query: ListQuery): Page {
  const plants = parseList(body, parsePlant);
  const after = parseNext(headers.get("link"));
  if (after === undefined) return { plants };
  // Otherwise a wrong response could make us loop forever.
  if (query.after !== undefined && after <= query.after) throw new TypeError("the next page is not behind this one");
  return { plants, next: { ...query, after } };
}

/**
 * The id after which the next page begins (RFC 8288). The link is relative to this page, and nothing else of it is
 * used: we have the rest of the query already, as numbers and text.
 */
function parseNext(link: string | null): bigint | undefined {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? "")?.[1];
  if (target === undefined) return undefined;
  const after = new URLSearchParams(target.slice(target.indexOf("?") + 1)).get("after");
  if (after === null || !/^-?\d+$/.test(after)) throw new TypeError("the link to the next page names no id");
  return BigInt(after);
}
