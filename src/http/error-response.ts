import type { Schemas } from "../../contract/generated/schemas.ts";
import { PlantStoreError } from "../domain/errors.ts";
import type { ErrorCode } from "../domain/errors.ts";
import type { Log } from "../runtime/log.ts";
import type { HttpResponse } from "./wire/response.ts";

const RETRY_AFTER_SECONDS = "1";

/** The only place where an error becomes a response. */
export function toErrorResponse({ code, message, status, headers, number }: PlantStoreError): HttpResponse {
  return {
    status,
    body: JSON.stringify({ error: number, message } satisfies Schemas["Error"]),
    // A cache may keep a 404 or a 405 by itself (RFC 9110, 15.1), and others if its operator says so: for everyone.
    headers: { "cache-control": "no-store", ...usualHeaders(code), ...headers },
  };
}

/** What the client may know of an error. An unexpected one is a bug: it is logged, and its text is not sent. */
export function toExpected(thrown: unknown, log: Log, requestId: string): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  if (thrown instanceof DOMException && thrown.name === "AbortError") return new PlantStoreError("incomplete_body", { cause: thrown });
  log.error("unexpected_error", { requestId, error: thrown });
  return new PlantStoreError("internal", { cause: thrown });
}

/** Headers that an error carries wherever it is thrown. */
function usualHeaders(code: ErrorCode): Record<string, string> {
  switch (code) {
    case "overloaded":
    case "store_unavailable":
    case "store_full":
    case "draining":
    case "index_building":
      return { "retry-after": RETRY_AFTER_SECONDS };
    case "unsupported_media_type":
    case "unsupported_charset":
      return { accept: "application/json" };
    case "unsupported_encoding":
      return { "accept-encoding": "identity" };
    case "incomplete_body":
    case "body_too_large":
    case "too_slow":
    // The rest of the body is not read, so the connection is of no use any more.
    case "invalid_host":
    case "malformed_request":
      // What follows may be misread too.
      return { connection: "close" };
    default:
      return {};
  }
}
