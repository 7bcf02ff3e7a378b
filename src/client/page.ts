import { parseList } from "./json.ts";
import type { ParsedResponse } from "./response.ts";
import { parsePlant } from "./plant.ts";
import type { Plant } from "./plant.ts";

/**
 * `tag`: only plants with exactly this tag. `untagged`: only plants without a tag; not together with `tag`. `q`: only
 * plants whose names contain these words.
 */
export type PlantFilter = Readonly<{ tag?: string; untagged?: boolean; q?: string }>;

/**
 * `id`: only the plant with this id. `after`: only plants with a greater id, or with "-id" a lower one. `limit`: plants per
 * page, 1 to 1,000, default 100. `sort`: the order, default "id"; "-id", "-name" and "oldest" are the others reversed. In one
 * that is not by id, `cursor` from `next` takes the place of `after`.
 */
export type ListQuery = PlantFilter & Readonly<{ limit?: number; sort?: Sort; after?: bigint; cursor?: string; id?: bigint }>;

export type Sort = "id" | "-id" | "name" | "-name" | "newest" | "oldest";

/**
 * One page of plants, in order. `next` is the query for the following page; the last page has none. A page that is
 * sorted and filtered may have few plants, or none, and a next one.
 */
export type Page = Readonly<{ plants: readonly Plant[]; next?: ListQuery }>;

/** Reads the response to `query`. Throws a TypeError if it is not a page. */
export function parsePage({ body, headers }: ParsedResponse, query: ListQuery): Page {
  const plants = parseList(body, parsePlant);
  const next = nextOf(headers);
  if (!next) return { plants };
  return {
    plants,
    next: { ...query, ...(isById(query) ? { after: parseAfter(next, query) } : { cursor: parseCursor(next, query.cursor) }) },
  };
}

/** The place in a list, from the response to a query with `cursor`, where the next page begins. The last page has none. */
export function parseNext({ headers }: ParsedResponse, cursor: string | undefined): string | undefined {
  const next = nextOf(headers);
  return next && parseCursor(next, cursor);
}

/** What a link says of the next page (RFC 8288). It is relative to this one, and nothing else of it is used. */
function nextOf(headers: Headers): URLSearchParams | undefined {
  const link = /<([^>]*)>\s*;\s*rel="?next"?/.exec(headers.get("link") ?? "")?.[1];
  return link === undefined ? undefined : new URLSearchParams(link.slice(link.indexOf("?") + 1));
}

/** The id after which the next page begins. We have the rest of the query already, as numbers and text. */
function parseAfter(next: URLSearchParams, query: ListQuery): bigint {
  const after = next.get("after");
  if (after === null || !/^-?\d+$/.test(after)) throw new TypeError("the link to the next page names no id");
  // Otherwise a wrong response could make us loop forever.
  const isBehind = query.after === undefined || (query.sort === "-id" ? BigInt(after) < query.after : BigInt(after) > query.after);
  if (!isBehind) throw new TypeError("the next page is not behind this one");
  return BigInt(after);
}

function isById({ sort = "id" }: ListQuery): boolean {
  return sort === "id" || sort === "-id";
}

function parseCursor(next: URLSearchParams, before: string | undefined): string {
  const cursor = next.get("cursor");
  if (cursor === null || cursor === before) throw new TypeError("the link to the next page names no other place");
  return cursor;
}
