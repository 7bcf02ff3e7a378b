import { ConnectionError, PlantStoreClientError, TimeoutError } from "./errors.ts";
import type { Limit } from "./limit.ts";

/** What the client needs of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A request on its way out. */
export type Outgoing = Readonly<{
  method: "DELETE" | "GET" | "PATCH" | "POST" | "PUT";
  /** Below the base url, with its query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Blob | ReadableStream<Uint8Array> | string;
  /** Whether the same request again can do no harm. */
  isRepeatable: boolean;
  /** The caller's own. */
  signal: AbortSignal | undefined;
}>;

export type Transport = Readonly<{
  /** Sends a request and hands the answer, once its head is here, to `read`. Until that resolves, `limit` may end both. Clears the limit. */
  exchange: <T>(outgoing: Outgoing, limit: Limit, read: (response: Response) => Promise<T>) => Promise<T>;
}>;

/** `base` has no slash at its end. */
export function createTransport({ base, token, fetch }: { base: string; token: string; fetch: Fetch }): Transport {
  return {
    async exchange(outgoing, limit, read) {
      const { method, path, body, signal } = outgoing;
      // Made outside of the try: what makes no header is a mistake of the caller, not of the connection.
      const headers = new Headers({ ...outgoing.headers, authorization: `Bearer ${token}` });
      const init: RequestInit & { duplex?: "half" } = {
        method,
        headers,
        // Never followed: the token must not reach another origin, and a POST would turn into a GET.
        redirect: "manual",
        // Plants are not left behind in a browser's cache.
        cache: "no-store",
        signal: anySignal(signal, limit),
        ...(body === undefined ? {} : { body: body as NonNullable<RequestInit["body"]> }),
        ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
      };
      try {
        signal?.throwIfAborted();
        return await read(await fetch(`${base}${path}`, init));
      } catch (cause) {
        throw toFailure(cause, outgoing, limit);
      } finally {
        limit.clear();
      }
    },
  };
}

/** What to throw when a request ended so: the caller's own reason, or one of our errors with its cause. */
export function toFailure(cause: unknown, outgoing: Outgoing, limit: Limit): unknown {
  const { method, path, signal, isRepeatable } = outgoing;
  if (signal?.aborted) return signal.reason;
  if (cause instanceof PlantStoreClientError) return cause;
  const request = `${method} ${path}`;
  const advice = isRepeatable ? "repeating it is safe" : "whether it was carried out is not known";
  if (limit.signal.aborted) {
    const limitMs = limit.limitMs();
    return new TimeoutError({ message: `${request} took longer than ${limitMs} ms: ${advice}.`, isRepeatable, cause, limitMs });
  }
  return new ConnectionError({ message: `${request} found no connection, or it broke: ${advice}.`, isRepeatable, cause });
}

function anySignal(signal: AbortSignal | undefined, limit: Limit): AbortSignal {
  return signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
}
