import { randomUUID } from "node:crypto";
import type { Gate } from "../auth/gate.ts";
import { ownerOf } from "../auth/principal.ts";
import type { Contract } from "../contract.ts";
import { PlantStoreError } from "../errors.ts";
import { decodeBody, parseJson } from "../json.ts";
import type { Log } from "../log.ts";
import type { Token } from "../store/store.ts";
import { toAnswer } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { checkBodyHeaders, openBody, readBody } from "./body.ts";
import { checkHost } from "./host.ts";
import type { Pages } from "./pages.ts";
import { parseQuery } from "./query.ts";
import type { Room } from "./room.ts";
import { createRouter } from "./router.ts";
import type { Connection, Handlers } from "./router.ts";

/** The whole of HTTP as one function. It never rejects. */
export type App = (request: Request, connection: Connection) => Promise<Response>;

type AppOptions = Readonly<{
  contract: Contract;
  handlers: Handlers;
  /** What stands at the paths that the contract does not have. */
  pages: Pages;
  gate: Gate;
  log: Log;
  /** Largest body of a request. */
  bodyBytesMax: number;
  room: Room;
  /** Once true, every answer closes its connection. */
  isDraining: () => boolean;
}>;

export function createApp({ contract, handlers, pages, gate, room, log, bodyBytesMax, isDraining }: AppOptions): App {
  const route = createRouter(contract.operations, handlers);

  /** Each step throws what is wrong; their order is part of the interface. */
  async function answer(request: Request, connection: Connection, requestId: string): Promise<Answer> {
    checkHost(request.headers);
    const { path, address } = connection;
    if (path === undefined) throw new PlantStoreError("unknown_path");
    const found = route(path);
    if (!found) return pages(path, request);
    const { resource, id } = found;
    if (request.method === "OPTIONS") return { status: 204, headers: resource.options };
    const target = resource.routes.get(request.method);
    if (!target) throw new PlantStoreError("method_not_allowed", { headers: { allow: resource.allow } });
    const { operation, handle } = target;
    const { headers } = request;
    let token: Token | undefined;
    if (operation.scope) {
      const admitted = gate.admit(headers.get("authorization"), operation.scope);
      // To wait for what is known already would cost a turn of the queue of promises for every request.
      token = admitted instanceof Promise ? await admitted : admitted;
    }
    const principal = { token, address };
    const refusal = room(operation.id, headers, ownerOf(principal));
    if (refusal) await refusal;
    const query = queryOf(request.url);
    const parameters = { ...(query === "" && operation.query.length === 0 ? undefined : parseQuery(query, operation.query)), id };
    const call = { parameters, headers, principal, requestId, connection };
    const { body } = operation;
    if (body.kind === "none") return handle({ ...call, body: undefined });
    if (body.kind === "stream") return await handle({ ...call, body: openBody(request, body.types) });
    checkBodyHeaders(headers, body.types);
    const value = parseJson(decodeBody(await readBody(request, bodyBytesMax)));
    body.check(value);
    return await handle({ ...call, body: value });
  }

  return async (request, connection) => {
    const requestId = requestIdOf(request);
    const started = log.isDebug ? performance.now() : 0;
    let answered: Answer;
    try {
      answered = await answer(request, connection, requestId);
    } catch (thrown) {
      answered = toAnswer(thrown, log, requestId);
    }
    if (log.isDebug) {
      const { path, address } = connection;
      log.debug("request", { requestId, address, method: request.method, path, status: answered.status, ms: performance.now() - started });
    }
    return toResponse(answered, requestId, isDraining() || isChunked(request));
  };
}

function toResponse({ status, body, headers }: Answer, requestId: string, isLast: boolean): Response {
  // A browser takes an answer for what its type says, whatever a name in it looks like.
  const all: Record<string, string> = { ...headers, "x-request-id": requestId, "x-content-type-options": "nosniff" };
  if (body !== undefined) all["content-type"] ??= "application/json";
  if (isLast) all["connection"] = "close";
  return new Response(body ?? null, { status, headers: all });
}

/**
 * What follows the last chunk of a body, such as trailers, comes when its request was handed over already. The runtime takes it for a request that
 * is none and answers it 400 (https://github.com/oven-sh/bun/pull/32887): on a kept connection of a proxy the next sender would get that answer.
 */
function isChunked({ headers }: Request): boolean {
  return headers.has("transfer-encoding");
}

function requestIdOf({ headers }: Request): string {
  const given = headers.get("x-request-id");
  return given !== null && /^[\w.-]{1,128}$/.test(given) ? given : randomUUID();
}

/** The query of a request. To parse the URL takes longer than all else here. */
function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}
