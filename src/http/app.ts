import { randomUUID } from "node:crypto";
import type { Audit } from "../auth/audit.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { authorize } from "../auth/authorize.ts";
import { Refusal } from "../auth/refusal.ts";
import { ownerOf } from "../principal.ts";
import type { Principal } from "../principal.ts";
import type { Contract, Operation } from "../contract.ts";
import type { JsonBody } from "../../contract/generated/bodies.ts";
import { PlantStoreError } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Token } from "../store/tokens.ts";
import { toErrorResponse, toExpected } from "./error-response.ts";
import type { HttpResponse } from "./wire/response.ts";
import { checkBodyHeaders, openBody, parseBody, readBody } from "./request-body.ts";
import type { ClientAddress } from "./client-address.ts";
import { createCrossOrigin } from "./cross-origin.ts";
import { checkHost } from "./host.ts";
import type { RequestMeter } from "./request-meter.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { ResponseBudget } from "./response-budget.ts";
import type { Static } from "./static.ts";
import { parseQuery } from "./query.ts";
import { createPace } from "../event-loop.ts";
import type { Admission } from "./admission.ts";
import type { RequestTracer } from "../tracing/request-tracer.ts";
import type { Trace } from "../tracing/request-trace.ts";
import { createRouter } from "./router.ts";
import type { Handlers, PathId, Route, UncheckedCall } from "./router.ts";
import type { HttpRequest } from "./wire/connection.ts";
import type { Fields } from "./wire/fields.ts";

/** The HTTP interface, from a request to its response. */
export type App = Readonly<{
  /** Never throws or rejects. It returns a promise only when it has to wait. */
  answer(request: HttpRequest): Answer;
  /** The response to input that is not a valid request. */
  refuse(error: PlantStoreError): HttpResponse;
}>;

type AppOptions = Readonly<{
  contract: Contract;
  handlers: Handlers;
  /** Serves the paths that the contract does not have. */
  files: Static;
  authenticator: Authenticator;
  /** Called with the token of each authorized request. */
  onAdmit: (token: Token) => void;
  audit: Audit;
  log: Log;
  /** Largest request body that is not streamed. */
  bodyBytesMax: number;
  admission: Admission;
  responseBudget: ResponseBudget;
  clientAddress: ClientAddress;
  limits: RateLimits;
  meter: RequestMeter;
  /** Undefined if nothing is traced. */
  tracer: RequestTracer | undefined;
  /** The origins of other pages that may use the service, as browsers send them. */
  origins: readonly string[];
  /** Once it returns true, every response closes its connection. */
  isDraining: () => boolean;
}>;

type Answer = HttpResponse | Promise<HttpResponse>;

/** A request, and what is known about it even if it fails. */
type Exchange = {
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

/**
 * Bodies of this size or larger wait for a turn to be parsed: each takes part of a millisecond, and many may arrive at
 * once.
 */
const LARGE_BYTES = 8192;

export function createApp(options: AppOptions): App {
  const {
    contract,
    handlers,
    files,
    authenticator,
    onAdmit,
    audit,
    admission,
    responseBudget,
    clientAddress,
    limits,
    meter,
    tracer,
    log,
    bodyBytesMax,
    origins,
    isDraining,
  } = options;
  const pace = createPace(() => performance.now());
  const route = createRouter(contract.operations, handlers);
  const allow = [...new Set(["HEAD", "OPTIONS", ...contract.operations.map(({ method }) => method)])].toSorted().join(", ");
  const crossOrigin = createCrossOrigin(origins, allow);

  /**
   * Each step throws if something is wrong. Their order is part of the interface. Nothing is awaited that is already
   * known: each promise would cost a turn of the microtask queue.
   */
  function answer(exchange: Exchange): Answer {
    const { request } = exchange;
    const { method, path } = request;
    checkHost(request);
    const preflight = crossOrigin?.preflight(request);
    if (preflight) return preflight;
    if (path === "*") return { status: 204, headers: { allow } };
    if (path === undefined) throw new PlantStoreError("unknown_path");
    const routed = route(path);
    if (!routed) {
      exchange.operation = "static";
      return files(path, request);
    }
    const { resource, id } = routed;
    if (method === "OPTIONS") return { status: 204, headers: resource.options };
    const target = resource.routes.get(method);
    if (!target) throw new PlantStoreError("method_not_allowed", { headers: { allow: resource.allow } });
    const { id: operation, scope } = target.operation;
    exchange.operation = operation;
    if (!scope) return admit(exchange, target, id, undefined);
    const token = authenticator.authenticate(request.headers.get("authorization"));
    return token instanceof Promise ? proceedLater(exchange, target, id, token) : proceed(exchange, target, id, token);
  }

  function proceed(exchange: Exchange, target: Route, id: PathId, token: Token): Answer {
    const { scope } = target.operation;
    if (scope) authorize(token, scope);
    onAdmit(token);
    return admit(exchange, target, id, token);
  }

  async function proceedLater(exchange: Exchange, target: Route, id: PathId, token: Promise<Token>): Promise<HttpResponse> {
    return proceed(exchange, target, id, await token);
  }

  function admit(exchange: Exchange, target: Route, id: PathId, token: Token | undefined): Answer {
    const { request, requestId } = exchange;
    const { operation } = target;
    const { headers, query } = request;
    const principal = { token, address: clientAddress(request.address, headers) };
    exchange.principal = principal;
    if (token) tracer?.identified(exchange.trace);
    if (token) exchange.headers = limits.admit(principal, requestId);
    const refusal = admission(operation.queue, headers, ownerOf(principal));
    if (refusal) return refusal;
    tracer?.admitted(exchange.trace);
    const parameters = query === "" && operation.query.length === 0 ? { id } : { id, ...parseQuery(query, operation.query) };
    const call = { parameters, headers, principal, requestId, connection: request, body: bodyOf(operation, request) };
    return call.body instanceof Promise ? handleLater(target, call) : target.handle(call);
  }

  async function handleLater({ handle }: Route, call: UncheckedCall): Promise<HttpResponse> {
    return handle({ ...call, body: await call.body });
  }

  /** The body in the form that the operation expects, validated. */
  function bodyOf({ body }: Operation, request: HttpRequest): unknown {
    if (body.kind === "none") return undefined;
    if (body.kind === "stream") return openBody(request, body.types);
    checkBodyHeaders(request.headers, body.types);
    const bytes = readBody(request, bodyBytesMax);
    return bytes instanceof Promise || bytes.length >= LARGE_BYTES ? parseInTurn(body, bytes) : parseBody(body, bytes);
  }

  async function parseInTurn(body: JsonBody<unknown>, bytes: Promise<Uint8Array> | Uint8Array): Promise<unknown> {
    const read = await bytes;
    if (read.length >= LARGE_BYTES) await pace();
    return parseBody(body, read);
  }

  /** Counts a refused request, and returns the error to send. */
  function refused(refusal: Refusal, exchange: Exchange): PlantStoreError {
    const { request, requestId } = exchange;
    const address = clientAddress(request.address, request.headers);
    const principal = { token: refusal.token, address };
    audit.refused({ principal, requestId }, refusal.code);
    // A token that lacks the scope is still valid, so its request counts, unless it was already counted.
    if (refusal.code === "insufficient_scope" && !exchange.principal) exchange.headers = limits.admit(principal, requestId);
    return limits.refuse(refusal, address, requestId);
  }

  /** Counts a failed request by its reason, and returns the error to send. */
  function countFailure(thrown: unknown, exchange: Exchange): unknown {
    try {
      if (thrown instanceof Refusal) return refused(thrown, exchange);
    } catch (limited) {
      return limited;
    }
    const isOverload = thrown instanceof PlantStoreError && thrown.code === "overloaded";
    if (isOverload && exchange.principal && !isDraining()) limits.overloaded(exchange.principal, exchange.requestId);
    return thrown;
  }

  function fail(thrown: unknown, exchange: Exchange): HttpResponse {
    const error = toExpected(countFailure(thrown, exchange), log, exchange.requestId);
    meter.failed(error.code);
    exchange.error = error.code;
    return complete(toErrorResponse(error), exchange);
  }

  /** Adds the headers of every response, and counts it. */
  function complete(response: HttpResponse, exchange: Exchange): HttpResponse {
    const { request, headers, requestId, operation, started } = exchange;
    meter.answered(operation, response.status, started);
    tracer?.answered(exchange, response.status);
    const whole = headers ? { ...response, headers: { ...headers, ...response.headers } } : response;
    return withCommonLines(crossOrigin ? crossOrigin.share(whole, request) : whole, requestId, isDraining());
  }

  function finish(response: HttpResponse, exchange: Exchange): HttpResponse {
    try {
      const { token } = exchange.principal ?? {};
      // A response that needs no token is the same for everyone, and made only once.
      return complete(token ? responseBudget(response, token.id) : response, exchange);
    } catch (thrown) {
      return fail(thrown, exchange);
    }
  }

  /** Answers a request and logs it. */
  async function answerLogged(exchange: Exchange): Promise<HttpResponse> {
    const response = await answerSafely(exchange);
    const { method, path, address: peer, headers } = exchange.request;
    const ms = performance.now() - exchange.started;
    log.debug("request", {
      requestId: exchange.requestId,
      address: clientAddress(peer, headers),
      method,
      path,
      status: response.status,
      ms,
    });
    return response;
  }

  function answerSafely(exchange: Exchange): Answer {
    let response: Answer;
    try {
      response = answer(exchange);
    } catch (thrown) {
      return fail(thrown, exchange);
    }
    return response instanceof Promise ? finishLater(response, exchange) : finish(response, exchange);
  }

  async function finishLater(later: Promise<HttpResponse>, exchange: Exchange): Promise<HttpResponse> {
    try {
      return finish(await later, exchange);
    } catch (thrown) {
      return fail(thrown, exchange);
    }
  }

  return {
    answer(request) {
      const exchange: Exchange = {
        request,
        requestId: givenId(request.headers) ?? randomUUID(),
        started: performance.now(),
        operation: "none",
        principal: undefined,
        headers: undefined,
        error: undefined,
        trace: undefined,
      };
      const serve = log.isDebug ? answerLogged : answerSafely;
      exchange.trace = tracer?.begin(request.headers, exchange.started);
      return tracer && exchange.trace ? tracer.run(exchange.trace, () => serve(exchange)) : serve(exchange);
    },
    refuse(error) {
      meter.failed(error.code);
      return withCommonLines(toErrorResponse(error), randomUUID(), true);
    },
  };
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

/** The id that the client chose, if it is a valid one. */
function givenId(headers: Fields): string | undefined {
  const given = headers.get("x-request-id");
  return given !== null && /^[\w.-]{1,128}$/.test(given) ? given : undefined;
}
