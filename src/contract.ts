import { readFileSync } from "node:fs";
import type { JsonBody } from "../contract/generated/bodies.ts";
import { OPERATIONS } from "../contract/generated/operations.ts";
import type { OperationId } from "../contract/generated/operations.ts";
import type { RequiredScope } from "./scope.ts";
import type { Queue } from "./store/store.ts";

/** One operation of the served contract. */
export type Operation = Readonly<{
  id: OperationId;
  /** In capitals, as on the wire. */
  method: string;
  /** With `{id}` in at most one place. */
  path: string;
  /** The scope that a token needs, "any" when each valid one will do; undefined when the operation needs no token. */
  scope: RequiredScope | undefined;
  /** What a write waits in until its commit; undefined when the operation writes nothing. */
  queue: WriteQueue | undefined;
  /** What the path may have for `{id}`. */
  pathId: ParameterSchema | undefined;
  /** The query parameters that it takes. */
  query: readonly QueryParameter[];
  body: Body;
}>;

/** A queue of the store, or the imports that run at a time: each commits for itself, and so often that no queue of single changes would do. */
export type WriteQueue = Queue | "imports";

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

/** What an operation takes: nothing, one JSON text, or a stream in one of some media types. */
type Body = Readonly<{ kind: "none" }> | JsonBody<unknown> | Readonly<{ kind: "stream"; types: readonly string[] }>;

export type Contract = Readonly<{
  operations: readonly Operation[];
  /** The served interface, as JSON text. */
  served: string;
  /** The base interface, 1.0.0, as JSON text. */
  base: string;
}>;

/** Reads both contracts. What the service must know of the served one was made from it before. */
export function loadContract(): Contract {
  return { operations: OPERATIONS, served: readText("openapi.json"), base: readText("base-1.0.0.json") };
}

function readText(name: string): string {
  return readFileSync(new URL(`../contract/generated/${name}`, import.meta.url), "utf8").trimEnd();
}
