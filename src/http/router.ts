import type { OperationId, ParametersOf } from "../../contract/operations.ts";
import type { Operation } from "../contract.ts";
import { parsePlantId } from "../plant.ts";
import type { PlantId } from "../plant.ts";
import type { Answer } from "./answer.ts";

/** What a handler gets. Everything that the contract says of it has been checked before. */
export type Call<Id extends OperationId> = Readonly<{
  parameters: ParametersOf[Id];
  /** The value of a JSON text, or a BodyStream; undefined when the operation takes no body. */
  body: unknown;
  headers: Headers;
}>;

/** One handler for each operation of the contract; an operation without one does not compile. */
export type Handlers = Readonly<{ [Id in OperationId]: (call: Call<Id>) => Answer | Promise<Answer> }>;

/** A handler whose operation is known only when it runs. */
type Handler = (call: Readonly<{ parameters: unknown; body: unknown; headers: Headers }>) => Answer | Promise<Answer>;

/** What stands at one path. */
type Resource = Readonly<{ allow: string; routes: ReadonlyMap<string, Route> }>;

type Route = Readonly<{ operation: Operation; handle: Handler }>;

/** Finds what stands at a path, with the id that the path holds; undefined where the contract has nothing. */
export type Router = (path: string) => Readonly<{ resource: Resource; id: PlantId | undefined }> | undefined;

const ID = "{id}";

/** Routes for each path of the contract, with its methods and the exact Allow header. A path may end in an id. */
export function createRouter(operations: readonly Operation[], handlers: Handlers): Router {
  const byPath = Map.groupBy(operations, ({ path }) => path);
  const resources = new Map(Array.from(byPath, ([path, atPath]) => [path, toResource(atPath, handlers)]));
  return (path) => {
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const id = parsePlantId(path.slice(folder.length));
    // A client that sends the template itself asks for nothing that exists.
    const resource = id === undefined && path.endsWith(ID) ? undefined : resources.get(id === undefined ? path : folder + ID);
    return resource && { resource, id };
  };
}

function toResource(operations: readonly Operation[], handlers: Handlers): Resource {
  const routes = new Map<string, Route>();
  for (const operation of operations) {
    const route = { operation, handle: handlers[operation.id] as Handler };
    routes.set(operation.method, route);
    // RFC 9110, 9.3.2: HEAD is GET without the body, which the listener leaves out.
    if (operation.method === "GET") routes.set("HEAD", route);
  }
  return { routes, allow: [...routes.keys(), "OPTIONS"].toSorted().join(", ") };
}
