import { randomUUID } from "node:crypto";
import type { Audit } from "../auth/audit.ts";
import { Refusal } from "../auth/authorize.ts";
import { PlantStoreError } from "../domain/errors.ts";
import type { Log } from "../runtime/log.ts";
import type { RequestTracer } from "../tracing/request-tracer.ts";
import type { ClientAddress } from "./client-address.ts";
import type { CrossOrigin } from "./cross-origin.ts";
import { toErrorResponse, toExpected } from "./error-response.ts";
import type { Exchange } from "./exchange.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { RequestMeter } from "./request-meter.ts";
import type { ResponseBudget } from "./response-budget.ts";
import type { Fields } from "./wire/fields.ts";
import type { HttpResponse } from "./wire/response.ts";

export type CompletionOptions = Readonly<{
  audit: Audit;
  log: Log;
  responseBudget: ResponseBudget;
  clientAddress: ClientAddress;
  limits: RateLimits;
  meter: RequestMeter;
  tracer: RequestTracer | undefined;
  /** Once it returns true, every response closes its connection. */
  isDraining: () => boolean;
}>;

/** Ends an exchange: what the handlers return or throw becomes a whole response, and is counted. Never throws. */
export class Completion {
  readonly #options: CompletionOptions;
  readonly #crossOrigin: CrossOrigin | undefined;

  constructor(options: CompletionOptions, crossOrigin: CrossOrigin | undefined) {
    this.#options = options;
    this.#crossOrigin = crossOrigin;
  }

  finish(response: HttpResponse, exchange: Exchange): HttpResponse {
    try {
      const { token } = exchange.principal ?? {};
      // A response that needs no token is the same for everyone, and made only once.
      const ended = withLineEnd(response, exchange.request.headers);
      return this.#complete(token ? this.#options.responseBudget(ended, token.id) : ended, exchange);
    } catch (thrown) {
      return this.fail(thrown, exchange);
    }
  }

  fail(thrown: unknown, exchange: Exchange): HttpResponse {
    const { log, meter } = this.#options;
    const error = toExpected(this.#countFailure(thrown, exchange), log, exchange.requestId);
    meter.failed(error.code);
    exchange.error = error.code;
    return this.#complete(withLineEnd(toErrorResponse(error), exchange.request.headers), exchange);
  }

  /** The response to input that is not a valid request. */
  refuse(error: PlantStoreError): HttpResponse {
    this.#options.meter.failed(error.code);
    return withCommonLines(toErrorResponse(error), randomUUID(), true);
  }

  /** Adds the headers of every response, and counts it. */
  #complete(response: HttpResponse, exchange: Exchange): HttpResponse {
    const { meter, tracer, isDraining } = this.#options;
    const { request, headers, requestId, operation, started } = exchange;
    meter.answered(operation, response.status, started);
    tracer?.answered(exchange, response.status);
    const whole = headers ? { ...response, headers: { ...headers, ...response.headers } } : response;
    return withCommonLines(this.#crossOrigin ? this.#crossOrigin.share(whole, request) : whole, requestId, isDraining());
  }

  /** Counts a failed request by its reason, and returns the error to send. */
  #countFailure(thrown: unknown, exchange: Exchange): unknown {
    const { limits, isDraining } = this.#options;
    try {
      if (thrown instanceof Refusal) return this.#countRefusal(thrown, exchange);
    } catch (limited) {
      return limited;
    }
    const isOverload = thrown instanceof PlantStoreError && thrown.code === "overloaded";
    if (isOverload && exchange.principal && !isDraining()) limits.overloaded(exchange.principal, exchange.requestId);
    return thrown;
  }

  #countRefusal(refusal: Refusal, exchange: Exchange): PlantStoreError {
    const { audit, clientAddress, limits } = this.#options;
    const { request, requestId } = exchange;
    const address = clientAddress(request.address, request.headers);
    const principal = { token: refusal.token, address };
    audit.refused({ principal, requestId }, refusal.code);
    // A token that lacks the scope is still valid, so its request counts, unless it was already counted.
    if (refusal.code === "insufficient_scope" && !exchange.principal) exchange.headers = limits.admit(principal, requestId);
    return limits.refuse(refusal, address, requestId);
  }
}

/** Clients that print a body as it is, so that the prompt of the shell follows its last character. */
const TERMINAL = /^(curl|Wget|HTTPie|xh)\//;

/** JSON for a terminal ends with a line end. */
function withLineEnd(response: HttpResponse, requested: Pick<Fields, "get">): HttpResponse {
  const { body, headers } = response;
  const isLine = typeof body === "string" && headers?.["content-type"] === undefined;
  return isLine && TERMINAL.test(requested.get("user-agent") ?? "") ? { ...response, body: `${body}\n` } : response;
}

/**
 * The headers of every response. nosniff: a browser must not guess another type from the content, such as HTML
 * from a plant's name.
 */
function withCommonLines({ status, body, headers, onSent }: HttpResponse, requestId: string, isDraining: boolean): HttpResponse {
  const type = body === undefined || headers?.["content-type"] !== undefined ? "" : "content-type: application/json\r\n";
  const lines = `${type}x-request-id: ${requestId}\r\nx-content-type-options: nosniff\r\n`;
  return { status, body, headers, lines, isLast: isDraining || headers?.["connection"] === "close", onSent };
}
