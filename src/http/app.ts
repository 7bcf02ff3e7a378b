import { randomUUID } from "node:crypto";
import type { Audit } from "../auth/audit.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { authorize } from "../auth/authorize.ts";
import { Refusal } from "../auth/refusal.ts";
import { ownerOf } from "../principal.ts";
import type { Principal } from "../principal.ts";
import type { Contract, Operation } from "../contract.ts";
import { PlantStoreError } from "../errors.ts";
import { decodeBody, parseJson } from "../json.ts";
import type { Log } from "../log.ts";
import { checkBody } from "../validation.ts";
import type { Token } from "../store/tokens.ts";
import { toErrorResponse } from "./error-response.ts";
import type { HttpResponse } from "./wire/response.ts";
import { checkBodyHeaders, openBody, readBody } from "./request-body.ts";
import type { ClientAddress } from "./client-address.ts";
import { checkHost } from "./host.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { ResponseBudget } from "./response-budget.ts";
import type { Static } from "./static.ts";
import { parseQuery } from "./query.ts";
import { createPace } from "../event-loop.ts";
import type { Admission } from "./admission.ts";
import { createRouter } from "./router.ts";
import type { Handlers } from "./router.ts";
import type { HttpRequest } from "./wire/connection.ts";

/** The HTTP interface, from a request to its response. */
export type App = Readonly<{
  /** Never rejects. */
  answer(request: HttpRequest): Promise<HttpResponse>;
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
  /** Once it returns true, every response closes its connection. */
  isDraining: () => boolean;
}>;

/** What is known about a request even if it fails: the headers of any response to it, and who was authorized. */
type Seen = { headers?: Readonly<Record<string, string>> | undefined; principal?: Principal };

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
    log,
    bodyBytesMax,
    isDraining,
  } = options;
  const pace = createPace(() => performance.now());
  const route = createRouter(contract.operations, handlers);
  const allow = [...new Set(["HEAD", "OPTIONS", ...contract.operations.map(({ method }) => method)])].toSorted().join(", ");

  /** Each step throws if something is wrong. Their order is part of the interface. */
  async function answer(request: HttpRequest, requestId: string, seen: Seen): Promise<HttpResponse> {
    const { method, path, query, headers } = request;
    checkHost(request);
    if (path === "*") return { status: 204, headers: { allow } };
    if (path === undefined) throw new PlantStoreError("unknown_path");
    const routed = route(path);
    if (!routed) return files(path, request);
    const { resource, id } = routed;
    if (method === "OPTIONS") return { status: 204, headers: resource.options };
    const target = resource.routes.get(method);
    if (!target) throw new PlantStoreError("method_not_allowed", { headers: { allow: resource.allow } });
    const { operation, handle } = target;
    let token: Token | undefined;
    if (operation.scope) {
      const found = authenticator.authenticate(headers.get("authorization"));
      // Awaiting a value that is already known would cost every request a turn of the microtask queue.
      token = found instanceof Promise ? await found : found;
      authorize(token, operation.scope);
      onAdmit(token);
    }
    const principal = { token, address: clientAddress(request.address, headers) };
    seen.principal = principal;
    if (token) seen.headers = limits.admit(principal, requestId);
    const refusal = admission(operation.queue, headers, ownerOf(principal));
    if (refusal) await refusal;
    const parameters = { ...(query === "" && operation.query.length === 0 ? undefined : parseQuery(query, operation.query)), id };
    const call = { parameters, headers, principal, requestId, connection: request };
    const body = bodyOf(operation, request);
    const handled = handle({ ...call, body: body instanceof Promise ? await body : body });
    const response = handled instanceof Promise ? await handled : handled;
    // A response that needs no token is the same for everyone, and made only once.
    return token ? responseBudget(response, token.id) : response;
  }

  /** The body in the form that the operation expects, validated. */
  function bodyOf({ body }: Operation, request: HttpRequest): unknown {
    if (body.kind === "none") return undefined;
    if (body.kind === "stream") return openBody(request, body.types);
    checkBodyHeaders(request.headers, body.types);
    const parse = (bytes: Uint8Array): unknown => checkBody(body, parseJson(decodeBody(bytes)));
    const parseInTurn = (bytes: Uint8Array): unknown => (bytes.length < LARGE_BYTES ? parse(bytes) : pace().then(() => parse(bytes)));
    const read = readBody(request, bodyBytesMax);
    return read instanceof Promise ? read.then(parseInTurn) : parseInTurn(read);
  }

  /** Counts a refused request, and returns the error to send. */
  function refused(refusal: Refusal, request: HttpRequest, requestId: string, seen: Seen): PlantStoreError {
    const address = clientAddress(request.address, request.headers);
    const principal = { token: refusal.token, address };
    audit.refused({ principal, requestId }, refusal.code);
    // A token that lacks the scope is still valid, so its request counts, unless it was already counted.
    if (refusal.code === "insufficient_scope" && !seen.principal) seen.headers = limits.admit(principal, requestId);
    return limits.refuse(refusal, address, requestId);
  }

  /** Counts a failed request by its reason, and returns the error to send. */
  function countFailure(thrown: unknown, request: HttpRequest, requestId: string, seen: Seen): unknown {
    try {
      if (thrown instanceof Refusal) return refused(thrown, request, requestId, seen);
    } catch (limited) {
      return limited;
    }
    const isOverload = thrown instanceof PlantStoreError && thrown.code === "overloaded";
    if (isOverload && seen.principal && !isDraining()) limits.overloaded(seen.principal, requestId);
    return thrown;
  }

  return {
    async answer(request) {
      const requestId = requestIdOf(request);
      const started = log.isDebug ? performance.now() : 0;
      let response: HttpResponse;
      const seen: Seen = {};
      try {
        response = await answer(request, requestId, seen);
      } catch (thrown) {
        response = toErrorResponse(countFailure(thrown, request, requestId, seen), log, requestId);
      }
      if (seen.headers) response = { ...response, headers: { ...seen.headers, ...response.headers } };
      if (log.isDebug) {
        const { method, path } = request;
        const address = clientAddress(request.address, request.headers);
        log.debug("request", { requestId, address, method, path, status: response.status, ms: performance.now() - started });
      }
      return complete(response, requestId, isDraining());
    },
    refuse(error) {
      const requestId = randomUUID();
      return complete(toErrorResponse(error, log, requestId), requestId, true);
    },
  };
}

/** Adds the headers of every response. */
function complete({ body, headers, ...rest }: HttpResponse, requestId: string, isLast: boolean): HttpResponse {
  // nosniff: a browser must not guess another type from the content, such as HTML from a plant's name.
  const all: Record<string, string> = { ...headers, "x-request-id": requestId, "x-content-type-options": "nosniff" };
  if (body !== undefined) all["content-type"] ??= "application/json";
  if (isLast) all["connection"] = "close";
  return body === undefined ? { ...rest, headers: all } : { ...rest, body, headers: all };
}

function requestIdOf({ headers }: HttpRequest): string {
  const given = headers.get("x-request-id");
  return given !== null && /^[\w.-]{1,128}$/.test(given) ? given : randomUUID();
}
