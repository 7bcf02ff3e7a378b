import { randomUUID } from "node:crypto";
import type { Gate } from "../auth/gate.ts";
import type { Contract } from "../contract.ts";
import { PlantStoreError } from "../errors.ts";
import { decodeBody, parseJson } from "../json.ts";
import type { Log } from "../log.ts";
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
  /** Once true, every answer asks the client to close the connection. */
  isDraining: () => boolean;
}>;

export function createApp({ contract, handlers, pages, gate, room, log, bodyBytesMax, isDraining }: AppOptions): App {
  const route = createRouter(contract.operations, handlers);

  /** Each step throws what is wrong; their order is part of the interface. */
  async function answer(request: Request, connection: Connection): Promise<Answer> {
    checkHost(request.headers);
    const { path, query } = splitUrl(request.url);
    const found = route(path);
    if (!found) return pages(path, request);
    const { resource, id } = found;
    if (request.method === "OPTIONS") return { status: 204, headers: { allow: resource.allow } };
    const target = resource.routes.get(request.method);
    if (!target) throw new PlantStoreError("method_not_allowed", { headers: { allow: resource.allow } });
    const { operation, handle } = target;
    if (operation.scope) {
      const admitted = gate.admit(request.headers.get("authorization"), operation.scope);
      // To wait for what is known already would cost a turn of the queue of promises for every request.
      if (admitted instanceof Promise) await admitted;
    }
    const { headers } = request;
    const refusal = room(operation.id, headers);
    if (refusal) await refusal;
    const parameters = { ...(query === "" && operation.query.length === 0 ? undefined : parseQuery(query, operation.query)), id };
    const { body } = operation;
    if (body.kind === "none") return handle({ parameters, body: undefined, headers, connection });
    if (body.kind === "stream") return await handle({ parameters, body: openBody(request, body.types), headers, connection });
    checkBodyHeaders(headers);
    const value = parseJson(decodeBody(await readBody(request, bodyBytesMax)));
    body.check(value);
    return await handle({ parameters, body: value, headers, connection });
  }

  return async (request, connection) => {
    const requestId = requestIdOf(request);
    const started = log.isDebug ? performance.now() : 0;
    let answered: Answer;
    try {
      answered = await answer(request, connection);
    } catch (thrown) {
      answered = toAnswer(thrown, log, requestId);
    }
    if (log.isDebug) {
      const { path } = splitUrl(request.url);
      log.debug("request", { requestId, method: request.method, path, status: answered.status, ms: performance.now() - started });
    }
    return toResponse(answered, requestId, isDraining());
  };
}

function toResponse({ status, body, headers }: Answer, requestId: string, isLast: boolean): Response {
  const all: Record<string, string> = { ...headers, "x-request-id": requestId };
  if (body !== undefined) all["content-type"] ??= "application/json";
  if (isLast) all["connection"] = "close";
  return new Response(body ?? null, { status, headers: all });
}

function requestIdOf({ headers }: Request): string {
  const given = headers.get("x-request-id");
  return given !== null && /^[\w.-]{1,128}$/.test(given) ? given : randomUUID();
}

/** The path and the query of a request. To parse the URL would decode the path, and takes longer than all else here. */
function splitUrl(url: string): { path: string; query: string } {
  // Without a Host, which HTTP/1.0 allows, the URL is the path alone.
  const pathStart = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const queryStart = url.indexOf("?", pathStart);
  if (queryStart === -1) return { path: url.slice(pathStart), query: "" };
  return { path: url.slice(pathStart, queryStart), query: url.slice(queryStart + 1) };
}
