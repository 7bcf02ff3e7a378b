import type { Document, Operation, Parameter, Schema } from "./document.ts";
import { operationsOf, parametersOf, toJson } from "./document.ts";

/** The operations as lines of a TypeScript table: what the service must know of each before its first request. */
export function operationTable(document: Document): string {
  return operationsOf(document)
    .map(({ path, method, operation }) => {
      const parameters = parametersOf(operation, document);
      const pathId = parameters.find((parameter) => parameter.in === "path");
      const query = parameters.filter((parameter) => parameter.in === "query");
      if (!isRoutable(path, pathId)) throw new Error(`contract: ${path} may have one parameter, {id}, and must describe it.`);
      const fields = {
        id: toJson(operation.operationId),
        method: toJson(method.toUpperCase()),
        path: toJson(path),
        scope: toJson(scopeOf(operation)) ?? "undefined",
        queue: toJson(queueOf(operation, method)) ?? "undefined",
        pathId: pathId ? toJson(ruleOf(pathId)) : "undefined",
        query: `[${query.map((parameter) => toJson({ name: parameter.name, schema: ruleOf(parameter) })).join(", ")}]`,
        body: bodyOf(operation),
      };
      return `  { ${Object.entries(fields)
        .map(([name, value]) => `${name}: ${value}`)
        .join(", ")} },\n`;
    })
    .join("");
}

/** Whether the body of an operation is one JSON text. */
export function takesJson({ requestBody }: Operation): boolean {
  return requestBody !== undefined && "application/json" in requestBody.content;
}

/** Whether the handler gets the body as it arrives. */
export function isStreamed(operation: Operation): boolean {
  return operation["x-body"] === "stream" || !takesJson(operation);
}

function isRoutable(path: string, pathId: Parameter | undefined): boolean {
  const [, ...named] = path.split("{");
  return named.length === 0 ? pathId === undefined : pathId?.name === "id" && path.split("/{id}").length === 2 && named.length === 1;
}

function scopeOf({ operationId, "x-scope": scope, security }: Operation): string | undefined {
  const isPublic = security?.length === 0;
  if (isPublic !== (scope === undefined)) throw new Error(`contract: ${operationId} needs either an x-scope or an empty security.`);
  return scope;
}

/** Every operation that may change something must name the queue of its changes. */
function queueOf({ operationId, "x-queue": queue }: Operation, method: string): string | undefined {
  if (method !== "get" && queue === undefined) throw new Error(`contract: ${operationId} changes something, and needs an x-queue.`);
  return queue;
}

function bodyOf(operation: Operation): string {
  if (!operation.requestBody) return '{ kind: "none" }';
  if (takesJson(operation) && !isStreamed(operation)) return operation.operationId;
  return `{ kind: "stream", types: ${toJson(Object.keys(operation.requestBody.content))} }`;
}

/** The keywords that the service checks for a parameter. */
const RULES: ReadonlyArray<keyof Schema> = ["type", "format", "minimum", "enum", "maxLength", "pattern", "default"];

function ruleOf({ name, schema }: Parameter): Schema {
  // Extensions are for generators of clients.
  const rules = Object.entries(schema).filter(([keyword]) => !keyword.startsWith("x-"));
  const odd = rules.find(([keyword]) => !(RULES as readonly string[]).includes(keyword));
  if (odd) throw new Error(`contract: nothing checks ${odd[0]} of the parameter ${name}.`);
  return Object.fromEntries(rules);
}
