import type { Answer } from "./response.ts";
import { parseList, parsePlant } from "./plant.ts";
import type { Plant } from "./plant.ts";

/**
 * What to list. `tag`: only plants with exactly this tag; `q`: only plants whose names hold these words; `after`: only plants with an id above
 * this one; `limit`: how many plants a page has, 1 to 1,000, the default is 100.
 */
export type ListQuery = Readonly<{ limit?: number; after?: bigint; tag?: string; q?: string }>;

/** One page of plants, by id. `next` asks for the page behind it, and is left out at the last one. */
export type Page = Readonly<{ plants: readonly Plant[]; next?: ListQuery }>;

/** Reads the answer to `query`. Throws a TypeError when it is no page. */
export function parsePage({ body, headers }: Answer, query: ListQuery): Page {
  const plants = parseList(body, parsePlant);
  const after = parseNext(headers.get("link"));
  if (after === undefined) return { plants };
  // Otherwise a wrong answer could have us read in a circle.
  if (query.after !== undefined && after <= query.after) throw new TypeError("the next page is not behind this one");
  return { plants, next: { ...query, after } };
}

/**
 * The id after which the next page begins (RFC 8288). Only that is taken from the link, which is relative to this page: the rest of the query
 * is ours already, as numbers and text.
 */
function parseNext(link: string | null): bigint | undefined {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? "")?.[1];
  if (target === undefined) return undefined;
  const after = new URLSearchParams(target.slice(target.indexOf("?") + 1)).get("after");
  if (after === null || !/^-?\d+$/.test(after)) throw new TypeError("the link to the next page names no id");
  return BigInt(after);
}
