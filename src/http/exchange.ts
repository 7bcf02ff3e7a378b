import { randomUUID } from "node:crypto";
import type { ErrorCode } from "../domain/errors.ts";
import type { Principal } from "../auth/principal.ts";
import type { Trace } from "../tracing/request-trace.ts";
import type { HttpRequest } from "./wire/request.ts";
import type { Fields } from "./wire/fields.ts";

/** A request, and what is known about it even if it fails. */
export type Exchange = {
  readonly request: HttpRequest;
  readonly requestId: string;
  /** When it began, by `performance.now()`. */
  readonly started: number;
  /** The operation of the contract that it asks for, once that is known. */
  operation: string;
  /** Who was authorized. */
  principal: Principal | undefined;
  /** Headers of any response to it. */
  headers: Readonly<Record<string, string>> | undefined;
  /** The name of the error that is the response, if it is one. */
  error: ErrorCode | undefined;
  /** Undefined if it belongs to no trace. */
  trace: Trace | undefined;
};

export function openExchange(request: HttpRequest): Exchange {
  return {
    request,
    requestId: givenId(request.headers) ?? randomUUID(),
    started: performance.now(),
    operation: "none",
    principal: undefined,
    headers: undefined,
    error: undefined,
    trace: undefined,
  };
}

/** The id that the client chose, if it is a valid one. */
function givenId(headers: Fields): string | undefined {
  const given = headers.get("x-request-id");
  return given !== null && /^[\w.-]{1,128}$/.test(given) ? given : undefined;
}
