import { ConnectionError, PlantStoreClientError, TimeoutError } from "./errors.ts";
import type { Limit } from "./limit.ts";

/** The part of `fetch` that the client needs. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Outgoing = Readonly<{
  method: "DELETE" | "GET" | "PATCH" | "POST" | "PUT";
  /** Relative to the base URL, including the query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Blob | ReadableStream<Uint8Array> | string;
  /** Whether the request is safe to repeat. */
  isRepeatable: boolean;
  /** The caller's. */
  signal: AbortSignal | undefined;
}>;

/** Sends a request and gives the response to `read` once its headers arrive. `limit` covers both, and is cleared at the end. */
export type Exchange = <T>(outgoing: Outgoing, limit: Limit, read: (response: Response) => Promise<T>) => Promise<T>;

/** `base` has no trailing slash. */
export function createExchange({ base, token, fetch }: { base: string; token: () => string; fetch: Fetch }): Exchange {
  return async (outgoing, limit, read) => {
    const { path, signal } = outgoing;
    try {
      // Outside the inner try: an invalid header is the caller's mistake, not a failed connection.
      const init = toInit(outgoing, token(), limit);
      try {
        signal?.throwIfAborted();
        return await read(await fetch(`${base}${path}`, init));
      } catch (cause) {
        throw toFailure(cause, outgoing, limit);
      }
    } finally {
      limit.clear();
    }
  };
}

function toInit({ method, headers, body, signal, isRepeatable }: Outgoing, token: string, limit: Limit): RequestInit {
  return {
    method,
    headers: new Headers({ ...headers, authorization: `Bearer ${token}` }),
    // Never follow redirects: the token must not reach another origin, and a POST would turn into a GET.
    redirect: "manual",
    // Leave no plants behind in a browser's cache.
    cache: "no-store",
    // Bun sends a PUT or DELETE again by itself if a connection breaks that was used before. On a new one it does not.
    ...(isRepeatable ? {} : { keepalive: false }),
    signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
    ...(body === undefined ? {} : { body: body as NonNullable<RequestInit["body"]> }),
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  };
}

/** What to throw when a request fails with `cause`: the reason of the caller's signal, or one of our errors. */
export function toFailure(cause: unknown, outgoing: Outgoing, limit: Limit): unknown {
  const { method, path, signal, isRepeatable } = outgoing;
  if (signal?.aborted) return signal.reason;
  if (cause instanceof PlantStoreClientError) return cause;
  const request = `${method} ${path}`;
  const advice = isRepeatable ? "repeating it is safe" : "it is not known whether it was carried out";
  if (limit.signal.aborted) {
    const limitMs = limit.limitMs();
    return new TimeoutError({ message: `${request} took longer than ${limitMs} ms: ${advice}.`, isRepeatable, cause, limitMs });
  }
  return new ConnectionError({ message: `${request} could not connect, or the connection broke: ${advice}.`, isRepeatable, cause });
}
