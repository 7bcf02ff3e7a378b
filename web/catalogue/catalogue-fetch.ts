import { PlantStoreClientError } from "../../src/client/page-client.ts";
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

/** Why nothing more is sent for someone who has signed out. The client passes it on as it is, and does not try again. */
export class SignedOutError extends PlantStoreClientError {
  constructor() {
    super({ message: "Signed out.", isRepeatable: false });
  }
}

export type SignedInFetch = Readonly<{
  fetch: Fetch;
  /** How many changes were sent so far, each try counted. */
  changesSent: () => number;
  /** When the last response to one came, by performance.now(); Infinity while one has none. */
  changedAt: () => number;
}>;

/**
 * A `fetch` that sends nothing once its user has signed out, no matter who signs in next. What is being read ends then. A
 * change that is on its way goes on, as it may be made already, and its response tells.
 */
export function createSignedInFetch(fetch: Fetch, signedOut: AbortSignal): SignedInFetch {
  let changesSent = 0;
  let underWay = 0;
  let changedAt = -Infinity;
  return {
    async fetch(url, init) {
      signedOut.throwIfAborted();
      if (init.method === "GET")
        return fetch(url, { ...init, signal: init.signal ? AbortSignal.any([init.signal, signedOut]) : signedOut });
      changesSent += 1;
      underWay += 1;
      try {
        return await fetch(url, init);
      } finally {
        underWay -= 1;
        changedAt = performance.now();
      }
    },
    changesSent: () => changesSent,
    changedAt: () => (underWay > 0 ? Infinity : changedAt),
  };
}
