import { readFileSync } from "node:fs";
import type { JsonBody } from "../../contract/generated/bodies.ts";
import { OPERATIONS } from "../../contract/generated/operations.ts";
import type { OperationId } from "../../contract/generated/operations.ts";
import type { RequiredScope } from "./scope.ts";

export type Operation = Readonly<{
  id: OperationId;
  /** In upper case, as on the wire. */
  method: string;
  /** Contains `{id}` at most once. */
  path: string;
  /** The scope that a token needs; "any" if every valid token will do; undefined if the operation needs no token. */
  scope: RequiredScope | undefined;
  /** The queue in which a write waits for its commit; undefined if the operation writes nothing. */
  queue: WriteQueue | undefined;
  /** What `{id}` in the path may be. */
  pathId: ParameterSchema | undefined;
  query: readonly QueryParameter[];
  body: Body;
}>;

/** The queues of a store in which changes wait for their commit. Imports have limits of their own. */
export type Queue = "creates" | "changes" | "tokens";

/**
 * A queue of the store, "imports" (an import commits on its own, too often for a queue of single changes), or "bulk": a
 * request with many changes, which wait in the queue of changes.
 */
export type WriteQueue = Queue | "imports" | "bulk";

export type QueryParameter = Readonly<{ name: string; schema: ParameterSchema }>;

export type ParameterSchema = Readonly<{
  type: "integer" | "string" | "boolean";
  format?: "int32" | "int64";
  minimum?: number;
  enum?: readonly string[];
  /** In characters, not in UTF-16 units. */
  maxLength?: number;
  pattern?: string;
  default?: string | number | boolean;
}>;

/** What an operation accepts: nothing, one JSON text, or a stream of one of several media types. */
type Body = Readonly<{ kind: "none" }> | JsonBody<unknown> | Readonly<{ kind: "stream"; types: readonly string[] }>;

export type Contract = ReturnType<typeof loadContract>;

/**
 * Reads the served contract and the base one, 1.0.0, as JSON text. The code that the service needs for the served one was
 * generated from it beforehand.
 */
export function loadContract() {
  return { operations: OPERATIONS as readonly Operation[], served: readText("openapi.json"), base: readText("base-1.0.0.json") };
}

function readText(name: string): string {
  return readFileSync(new URL(`../../contract/generated/${name}`, import.meta.url), "utf8").trimEnd();
}
