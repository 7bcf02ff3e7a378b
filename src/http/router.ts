import type { OperationId } from "../../contract/operations.ts";
import type { Operation } from "../contract.ts";
import type { Answer } from "./answer.ts";

/** What a handler gets. Everything that the contract says of it has been checked before. */
type Call = Readonly<{ body: unknown }>;

type Handler = (call: Call) => Answer | Promise<Answer>;

/** One handler for each operation of the contract; an operation without one does not compile. */
export type Handlers = Readonly<Record<OperationId, Handler>>;

/** What stands at one path. */
type Resource = Readonly<{ allow: string; routes: ReadonlyMap<string, Route> }>;

type Route = Readonly<{ operation: Operation; handle: Handler }>;

/** What stands at each path of the contract, with its methods and the exact Allow header. */
export function createRouter(operations: readonly Operation[], handlers: Handlers): ReadonlyMap<string, Resource> {
  const byPath = Map.groupBy(operations, ({ path }) => path);
  return new Map(Array.from(byPath, ([path, atPath]) => [path, toResource(atPath, handlers)]));
}

function toResource(operations: readonly Operation[], handlers: Handlers): Resource {
  const routes = new Map<string, Route>();
  for (const operation of operations) {
    const route = { operation, handle: handlers[operation.id] };
    routes.set(operation.method, route);
    // RFC 9110, 9.3.2: HEAD is GET without the body, which the listener leaves out.
    if (operation.method === "GET") routes.set("HEAD", route);
  }
  return { routes, allow: [...routes.keys(), "OPTIONS"].toSorted().join(", ") };
}
