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

/** The interface: what is answered to whom. */
export type App = Readonly<{
  /** Never rejects. */
  answer(request: HttpRequest): Promise<HttpResponse>;
  /** The answer to what is no request. */
  refuse(error: PlantStoreError): HttpResponse;
}>;

type AppOptions = Readonly<{
  contract: Contract;
  handlers: Handlers;
  /** What stands at the paths that the contract does not have. */
  files: Static;
  authenticator: Authenticator;
  /** Called with the token of each request that is let in. */
  onAdmit: (token: Token) => void;
  audit: Audit;
  log: Log;
  /** Largest body of a request. */
  bodyBytesMax: number;
  admission: Admission;
  responseBudget: ResponseBudget;
  clientAddress: ClientAddress;
  limits: RateLimits;
  /** Once true, every answer closes its connection. */
  isDraining: () => boolean;
}>;

/** What is known of a request, also when it fails later: the headers that any answer to it has, and who was let in. */
type Seen = { headers?: Readonly<Record<string, string>> | undefined; principal?: Principal };

/** A body from this size on waits for a turn to be understood: when many come at once, each takes a part of a millisecond. */
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

  /** Each step throws what is wrong; their order is part of the interface. */
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
      // To wait for what is known already would cost a turn of the queue of promises for every request.
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
    const made = handle({ ...call, body: body instanceof Promise ? await body : body });
    const answered = made instanceof Promise ? await made : made;
    // What needs no token is the same for all, and made once.
    return token ? responseBudget(answered, token.id) : answered;
  }

  /** The body as the operation takes it, checked. */
  function bodyOf({ body }: Operation, request: HttpRequest): unknown {
    if (body.kind === "none") return undefined;
    if (body.kind === "stream") return openBody(request, body.types);
    checkBodyHeaders(request.headers, body.types);
    const parse = (bytes: Uint8Array): unknown => checkBody(body, parseJson(decodeBody(bytes)));
    const parseInTurn = (bytes: Uint8Array): unknown => (bytes.length < LARGE_BYTES ? parse(bytes) : pace().then(() => parse(bytes)));
    const read = readBody(request, bodyBytesMax);
    return read instanceof Promise ? read.then(parseInTurn) : parseInTurn(read);
  }

  /** Counts who was not let in, and gives what he is told. */
  function refused(refusal: Refusal, request: HttpRequest, requestId: string, seen: Seen): PlantStoreError {
    const address = clientAddress(request.address, request.headers);
    const principal = { token: refusal.token, address };
    audit.refused({ principal, requestId }, refusal.code);
    // A token that lacks the scope is one all the same, and counts as one; if it was let in before, it has counted.
    if (refusal.code === "insufficient_scope" && !seen.principal) seen.headers = limits.admit(principal, requestId);
    return limits.refuse(refusal, address, requestId);
  }

  /** Counts why a request failed, and gives what is told of it. */
  function judge(thrown: unknown, request: HttpRequest, requestId: string, seen: Seen): unknown {
    try {
      if (thrown instanceof Refusal) return refused(thrown, request, requestId, seen);
    } catch (over) {
      return over;
    }
    const isOverload = thrown instanceof PlantStoreError && thrown.code === "overloaded";
    if (isOverload && seen.principal && !isDraining()) limits.overloaded(seen.principal, requestId);
    return thrown;
  }

  return {
    async answer(request) {
      const requestId = requestIdOf(request);
      const started = log.isDebug ? performance.now() : 0;
      let answered: HttpResponse;
      const seen: Seen = {};
      try {
        answered = await answer(request, requestId, seen);
      } catch (thrown) {
        answered = toErrorResponse(judge(thrown, request, requestId, seen), log, requestId);
      }
      if (seen.headers) answered = { ...answered, headers: { ...seen.headers, ...answered.headers } };
      if (log.isDebug) {
        const { method, path } = request;
        const address = clientAddress(request.address, request.headers);
        log.debug("request", { requestId, address, method, path, status: answered.status, ms: performance.now() - started });
      }
      return complete(answered, requestId, isDraining());
    },
    refuse(error) {
      const requestId = randomUUID();
      return complete(toErrorResponse(error, log, requestId), requestId, true);
    },
  };
}

/** With the headers that every answer has. */
function complete({ body, headers, ...rest }: HttpResponse, requestId: string, isLast: boolean): HttpResponse {
  // A browser takes an answer for what its type says, whatever a name in it looks like.
  const all: Record<string, string> = { ...headers, "x-request-id": requestId, "x-content-type-options": "nosniff" };
  if (body !== undefined) all["content-type"] ??= "application/json";
  if (isLast) all["connection"] = "close";
  return body === undefined ? { ...rest, headers: all } : { ...rest, body, headers: all };
}

function requestIdOf({ headers }: HttpRequest): string {
  const given = headers.get("x-request-id");
  return given !== null && /^[\w.-]{1,128}$/.test(given) ? given : randomUUID();
}
