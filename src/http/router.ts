import type { BodyOf, OperationId, ParametersOf } from "../../contract/generated/operations.ts";
import type { Principal } from "../auth/principal.ts";
import type { Operation, ParameterSchema } from "../domain/contract.ts";
import { parsePlantId } from "../domain/plant.ts";
import type { PlantId } from "../domain/plant.ts";
import type { HttpResponse } from "./wire/response.ts";
import { acceptPatch } from "./request-body.ts";
import type { BodyStream } from "./request-body.ts";
import type { HttpRequest } from "./wire/request.ts";
import type { Fields } from "./wire/fields.ts";

/** What only the server can do for a request. */
type Connection = Pick<HttpRequest, "allowSilence" | "isGone" | "isHttp10">;

/** What a handler gets, already validated against the contract. */
export type Call<Id extends OperationId> = Readonly<{
  parameters: ParametersOf[Id];
  body: BodyOf<BodyStream>[Id];
  headers: Fields;
  principal: Principal;
  /** Identifies the request in the response and in the log. */
  requestId: string;
  connection: Connection;
}>;

/** One handler for each operation of the contract. If one is missing, this does not compile. */
export type Handlers = Readonly<{ [Id in OperationId]: (call: Call<Id>) => HttpResponse | Promise<HttpResponse> }>;

/** A handler whose operation is known only at run time. */
type Handler = (call: UncheckedCall) => HttpResponse | Promise<HttpResponse>;
/** A call of an operation that is known only at run time. */
export type UncheckedCall = Unchecked & Omit<Call<OperationId>, keyof Unchecked>;
type Unchecked = Readonly<{ parameters: unknown; body: unknown }>;

type Resource = Readonly<{
  allow: string;
  /** The headers of the response to OPTIONS. */
  options: Readonly<Record<string, string>>;
  routes: ReadonlyMap<string, Route>;
}>;

export type Route = Readonly<{ operation: Operation; handle: Handler }>;

/** The id in a path, if it has one. */
export type PathId = PlantId | string | undefined;

/** Finds the resource at a path, and the id in it. Undefined if the contract has no such path. */
export type Router = (path: string) => Readonly<{ resource: Resource; id: PathId }> | undefined;

const ID = "{id}";

/**
 * Creates the routes for each path of the contract, with its methods and the exact Allow header. A path may have one
 * id, at its end or in its middle.
 */
export function createRouter(operations: readonly Operation[], handlers: Handlers): Router {
  const byPath = Array.from(Map.groupBy(operations, ({ path }) => path));
  const fixed = new Map(byPath.filter(([path]) => !path.includes(ID)).map(([path, atPath]) => [path, toResource(atPath, handlers)]));
  const templates = byPath
    .filter(([path]) => path.includes(ID))
    .map(([path, atPath]) => {
      const [before = "", after = ""] = path.split(ID);
      return { before, after, resource: toResource(atPath, handlers), parseId: idParser(atPath[0]?.pathId) };
    });
  return (path) => {
    const resource = fixed.get(path);
    if (resource) return { resource, id: undefined };
    for (const { before, after, resource: found, parseId } of templates) {
      if (!path.startsWith(before) || !path.endsWith(after)) continue;
      const id = parseId(path.slice(before.length, path.length - after.length));
      if (id !== undefined) return { resource: found, id };
    }
    return undefined;
  };
}

/** Parses an id in its canonical form. Undefined for any other form, which no path matches. */
function idParser(schema: ParameterSchema | undefined): (text: string) => PathId {
  if (schema?.format === "int64") return parsePlantId;
  if (schema?.pattern === undefined) throw new Error("contract: an id in a path must be an int64 or have a pattern.");
  const pattern = new RegExp(schema.pattern, "u");
  return (text) => (pattern.test(text) && !text.includes("/") ? text : undefined);
}

function toResource(operations: readonly Operation[], handlers: Handlers): Resource {
  const routes = new Map<string, Route>();
  for (const operation of operations) {
    const route = { operation, handle: handlers[operation.id] as Handler };
    routes.set(operation.method, route);
    // RFC 9110, 9.3.2: HEAD is GET without the body, which the server leaves out.
    if (operation.method === "GET") routes.set("HEAD", route);
  }
  const allow = [...routes.keys(), "OPTIONS"].toSorted().join(", ");
  const patch = operations.find(({ method }) => method === "PATCH")?.body;
  return { routes, allow, options: { allow, ...(patch?.kind === "json" && patch.types ? acceptPatch(patch.types) : {}) } };
}
