import type { Fetch } from "../../src/client/client.ts";

type Known = Readonly<{ etag: string; body: string; headers: Headers }>;

/** Lists that may be asked for again: a page of the largest plants has a million bytes. */
const KNOWN_MAX = 16;

/** `/plants` and `/tags`, not an export. */
const LIST = /\/(plants|tags)(\?|$)/;

/**
 * A `fetch` that asks only for what has changed since it asked for the same list before, and reports each change that
 * is made through it. Lists are kept in memory: the browser's own cache would leave plants on the disk.
 */
export function createCatalogueFetch(fetch: Fetch, onChange: () => void): Fetch {
  const lists = new Map<string, Known>();
  return async (url, init) => {
    if (init.method !== "GET") {
      const response = await fetch(url, init);
      if (response.ok && url.includes("/plants")) onChange();
      return response;
    }
    if (!LIST.test(url)) return fetch(url, init);
    const known = lists.get(url);
    const headers = new Headers(init.headers);
    if (known) headers.set("if-none-match", known.etag);
    const response = await fetch(url, { ...init, headers });
    if (known && response.status === 304) return new Response(known.body, { headers: known.headers });
    const etag = response.headers.get("etag");
    if (response.status !== 200 || etag === null) return response;
    const body = await response.text();
    lists.delete(url);
    lists.set(url, { etag, body, headers: response.headers });
    const [oldest] = lists.keys();
    if (lists.size > KNOWN_MAX && oldest !== undefined) lists.delete(oldest);
    return new Response(body, { headers: response.headers });
  };
}
