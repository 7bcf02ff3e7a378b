import type { ClientContext } from "./request.ts";
import { createExchange } from "./transport.ts";
import type { Fetch } from "./transport.ts";

export type ClientOptions = Readonly<{
  /** The address of the service, including the path if a proxy serves it under one: `https://plants.example/store`. */
  url: URL | string;
  /**
   * The bearer token, or what returns the one in use for each request. It is sent to `url` only: redirects are not
   * followed.
   */
  token: string | (() => string);
  /**
   * How long a call may take, with all tries and the pauses between them; default 30,000. Imports and exports have
   * `idleMs` instead.
   */
  timeoutMs?: number;
  /** How long one try may take; default 10,000. */
  tryTimeoutMs?: number;
  /**
   * How often to retry a call that is safe to repeat; default 4. Pauses are random, grow exponentially, and add to
   * Retry-After.
   */
  retries?: number;
  /** How long an import or export may go without moving a byte; default 60,000. */
  idleMs?: number;
  /** Replaces the runtime's own `fetch`. */
  fetch?: Fetch;
}>;

/** What the calls of a client share. Throws a TypeError if `url` is not the URL of a service. */
export function toContext(options: ClientOptions): ClientContext {
  const { url, token, timeoutMs = 30_000, tryTimeoutMs = 10_000, retries = 4, idleMs = 60_000, fetch = globalThis.fetch } = options;
  const exchange = createExchange({ base: toBase(url), token: typeof token === "string" ? () => token : token, fetch });
  return { exchange, policy: { timeoutMs, tryTimeoutMs, retries }, idleMs };
}

function toBase(url: URL | string): string {
  const { protocol, origin, pathname, search, hash, username, password } = new URL(url);
  const isPlain = [search, hash, username, password].every((part) => part === "");
  if (!isPlain || !/^https?:$/.test(protocol))
    throw new TypeError("The url is not that of a service: use one such as http://127.0.0.1:8080.");
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}
