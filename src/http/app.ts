import type { Authenticator } from "../auth/authenticate.ts";
import { authorize } from "../auth/authorize.ts";
import { ownerOf } from "../auth/principal.ts";
import type { Contract, Operation } from "../domain/contract.ts";
import type { JsonBody } from "../../contract/generated/bodies.ts";
import { PlantStoreError } from "../domain/errors.ts";
import type { Token } from "../store/tokens.ts";
import type { HttpResponse } from "./wire/response.ts";
import { checkBodyHeaders, openBody, parseBody, readBody } from "./request-body.ts";
import { Completion } from "./response-completion.ts";
import type { CompletionOptions } from "./response-completion.ts";
import { createCrossOrigin } from "./cross-origin.ts";
import type { CrossOrigin } from "./cross-origin.ts";
import { openExchange } from "./exchange.ts";
import type { Exchange } from "./exchange.ts";
import { checkHost } from "./host.ts";
import type { Static } from "./static.ts";
import { parseQuery } from "./query.ts";
import { createPace } from "../runtime/event-loop.ts";
import type { Admission } from "./admission.ts";
import { createRouter } from "./router.ts";
import type { Handlers, PathId, Route, Router, UncheckedCall } from "./router.ts";
import type { HttpRequest } from "./wire/request.ts";

type AppOptions = CompletionOptions &
  Readonly<{
    contract: Contract;
    handlers: Handlers;
    /** Serves the paths that the contract does not have. */
    files: Static;
    authenticator: Authenticator;
    /** Called with the token of each authorized request. */
    onAdmit: (token: Token) => void;
    /** Largest request body that is not streamed. */
    bodyBytesMax: number;
    admission: Admission;
    origins: readonly string[];
  }>;

type Answer = HttpResponse | Promise<HttpResponse>;

/**
 * Bodies of this size or larger wait for a turn to be parsed: each takes part of a millisecond, and many may arrive at
 * once.
 */
const LARGE_BYTES = 8192;

export class App {
  readonly #options: AppOptions;
  readonly #route: Router;
  /** Every method, for `OPTIONS *`. */
  readonly #allow: string;
  readonly #crossOrigin: CrossOrigin | undefined;
  readonly #completion: Completion;
  readonly #pace = createPace(() => performance.now());

  constructor(options: AppOptions) {
    const { contract, handlers, origins } = options;
    this.#options = options;
    this.#route = createRouter(contract.operations, handlers);
    this.#allow = [...new Set(["HEAD", "OPTIONS", ...contract.operations.map(({ method }) => method)])].toSorted().join(", ");
    this.#crossOrigin = createCrossOrigin(origins, this.#allow);
    this.#completion = new Completion(options, this.#crossOrigin);
  }

  /** Never throws or rejects. It returns a promise only when it has to wait. */
  readonly answer = (request: HttpRequest): Answer => {
    const { tracer, log } = this.#options;
    const exchange = openExchange(request);
    exchange.trace = tracer?.begin(request.headers, exchange.started);
    const answer = () => (log.isDebug ? this.#answerLogged(exchange) : this.#answerSafely(exchange));
    return tracer && exchange.trace ? tracer.run(exchange.trace, answer) : answer();
  };

  readonly refuse = (error: PlantStoreError): HttpResponse => this.#completion.refuse(error);

  async #answerLogged(exchange: Exchange): Promise<HttpResponse> {
    const { clientAddress, log } = this.#options;
    const response = await this.#answerSafely(exchange);
    const { method, path, address: peer, headers } = exchange.request;
    const ms = performance.now() - exchange.started;
    const address = clientAddress(peer, headers);
    log.debug("request", { requestId: exchange.requestId, address, method, path, status: response.status, ms });
    return response;
  }

  #answerSafely(exchange: Exchange): Answer {
    let response: Answer;
    try {
      response = this.#answer(exchange);
    } catch (thrown) {
      return this.#completion.fail(thrown, exchange);
    }
    return response instanceof Promise ? this.#finishLater(response, exchange) : this.#completion.finish(response, exchange);
  }

  async #finishLater(later: Promise<HttpResponse>, exchange: Exchange): Promise<HttpResponse> {
    try {
      return this.#completion.finish(await later, exchange);
    } catch (thrown) {
      return this.#completion.fail(thrown, exchange);
    }
  }

  /**
   * Each step throws if something is wrong. Their order is part of the interface. Nothing is awaited that is already
   * known: each promise would cost a turn of the microtask queue.
   */
  #answer(exchange: Exchange): Answer {
    const { authenticator, files } = this.#options;
    const { request } = exchange;
    const { method, path } = request;
    checkHost(request);
    const preflight = this.#crossOrigin?.preflight(request);
    if (preflight) return preflight;
    if (path === "*") return { status: 204, headers: { allow: this.#allow } };
    if (path === undefined) throw new PlantStoreError("unknown_path");
    const routed = this.#route(path);
    if (!routed) {
      const file = files(path, request);
      exchange.operation = "static";
      return file;
    }
    const { resource, id } = routed;
    if (method === "OPTIONS") return { status: 204, headers: resource.options };
    const target = resource.routes.get(method);
    if (!target) throw new PlantStoreError("method_not_allowed", { headers: { allow: resource.allow } });
    const { id: operation, scope } = target.operation;
    exchange.operation = operation;
    if (!scope) return this.#admit(exchange, target, id, undefined);
    const token = authenticator.authenticate(request.headers.get("authorization"));
    return token instanceof Promise ? this.#proceedLater(exchange, target, id, token) : this.#proceed(exchange, target, id, token);
  }

  #proceed(exchange: Exchange, target: Route, id: PathId, token: Token): Answer {
    const { scope } = target.operation;
    if (scope) authorize(token, scope);
    this.#options.onAdmit(token);
    return this.#admit(exchange, target, id, token);
  }

  async #proceedLater(exchange: Exchange, target: Route, id: PathId, token: Promise<Token>): Promise<HttpResponse> {
    return this.#proceed(exchange, target, id, await token);
  }

  #admit(exchange: Exchange, target: Route, id: PathId, token: Token | undefined): Answer {
    const { admission, clientAddress, limits, tracer } = this.#options;
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
    const call = { parameters, headers, principal, requestId, connection: request, body: this.#bodyOf(operation, request) };
    return call.body instanceof Promise ? handleLater(target, call) : target.handle(call);
  }

  /** The body in the form that the operation expects, validated. */
  #bodyOf({ body }: Operation, request: HttpRequest): unknown {
    if (body.kind === "none") return undefined;
    if (body.kind === "stream") return openBody(request, body.types);
    checkBodyHeaders(request.headers, body.types);
    const bytes = readBody(request, this.#options.bodyBytesMax);
    return bytes instanceof Promise || bytes.length >= LARGE_BYTES ? this.#parseInTurn(body, bytes) : parseBody(body, bytes);
  }

  async #parseInTurn(body: JsonBody<unknown>, bytes: Promise<Uint8Array> | Uint8Array): Promise<unknown> {
    const read = await bytes;
    if (read.length >= LARGE_BYTES) await this.#pace();
    return parseBody(body, read);
  }
}

async function handleLater({ handle }: Route, call: UncheckedCall): Promise<HttpResponse> {
  return handle({ ...call, body: await call.body });
}
