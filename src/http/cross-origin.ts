import type { HttpRequest } from "./wire/request.ts";
import type { Fields } from "./wire/fields.ts";
import type { HttpResponse } from "./wire/response.ts";

/** How long a browser may remember the answer to a preflight, in seconds; Chromium takes no more. */
const PREFLIGHT_SECONDS = 7200;

export type CrossOrigin = NonNullable<ReturnType<typeof createCrossOrigin>>;

/**
 * Lets the pages of some other origins use the service (https://fetch.spec.whatwg.org/#http-cors-protocol). They send
 * the token themselves: a browser may add nothing of its own, so `Access-Control-Allow-Credentials` is never sent.
 * `origins`: as browsers send them. `methods`: all that there are. Undefined if no origin is allowed.
 */
export function createCrossOrigin(origins: readonly string[], methods: string) {
  if (origins.length === 0) return undefined;
  const allowed = new Set(origins);
  const preflight: HttpResponse = {
    status: 204,
    headers: {
      "access-control-allow-methods": methods,
      // "*" stands for all but this one.
      "access-control-allow-headers": "authorization, *",
      "access-control-max-age": String(PREFLIGHT_SECONDS),
    },
  };

  function originOf(headers: Fields): string | undefined {
    const origin = headers.get("origin");
    return origin !== null && allowed.has(origin) ? origin : undefined;
  }

  return {
    /** The response to the question whether a page may send a request. Undefined for other requests and origins. */
    preflight({ method, headers }: HttpRequest): HttpResponse | undefined {
      const isPreflight = method === "OPTIONS" && headers.get("access-control-request-method") !== null;
      return isPreflight && originOf(headers) !== undefined ? preflight : undefined;
    },
    /** Adds to a response what lets the page read it, and what tells caches that it is not for every origin. */
    share(response: HttpResponse, { headers }: HttpRequest): HttpResponse {
      const origin = originOf(headers);
      const vary = response.headers?.["vary"];
      return {
        ...response,
        headers: {
          ...response.headers,
          vary: vary === undefined ? "Origin" : `${vary}, Origin`,
          ...(origin === undefined ? {} : { "access-control-allow-origin": origin, "access-control-expose-headers": "*" }),
        },
      };
    },
  };
}
