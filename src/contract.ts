import { readFileSync } from "node:fs";
import { _, Ajv2020 } from "ajv/dist/2020.js";
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import type { OperationId } from "../contract/operations.ts";
import { PlantStoreError } from "./errors.ts";
import { isScope } from "./scope.ts";
import type { Scope } from "./scope.ts";

/** One operation of the served contract. */
export type Operation = Readonly<{
  id: OperationId;
  /** In capitals, as on the wire. */
  method: string;
  path: string;
  /** The scope that a token needs; undefined when the operation needs no token. */
  scope: Scope | undefined;
  /** The query parameters that it takes. */
  query: readonly string[];
  /** Throws `invalid_body`, naming the field; or `invalid_unicode`. Undefined when the operation takes no body. */
  checkBody: ((value: unknown) => void) | undefined;
}>;

export type Contract = Readonly<{
  operations: readonly Operation[];
  /** The served interface, as JSON text. */
  served: string;
  /** The base interface, 1.0.0, as JSON text. */
  base: string;
}>;

/** Reads both contracts and makes the operations and their validators from the served one. Throws when it makes no sense. */
export function loadContract(): Contract {
  const served = readDocument("openapi.json");
  const document = JSON.parse(served) as Document;
  const ajv = createAjv(document);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => toOperation({ path, method, operation, ajv })),
  );
  return { operations, served, base: readDocument("base-1.0.0.json") };
}

type Document = Readonly<{ paths: Record<string, Record<string, DocumentOperation>> }>;

type DocumentOperation = Readonly<{
  operationId: OperationId;
  "x-scope"?: string;
  security?: readonly unknown[];
  parameters?: ReadonlyArray<{ name?: string; in?: string }>;
  requestBody?: unknown;
}>;

/** The JSON form of a contract: people write the YAML beside it, which takes fifty times as long to read. */
function readDocument(name: string): string {
  return readFileSync(new URL(`../contract/${name}`, import.meta.url), "utf8").trimEnd();
}

function toOperation(source: { path: string; method: string; operation: DocumentOperation; ajv: Ajv2020 }): Operation {
  const { path, method, operation, ajv } = source;
  const scope = operation["x-scope"];
  const isPublic = operation.security?.length === 0;
  if (isPublic ? scope !== undefined : scope === undefined || !isScope(scope)) {
    throw new Error(`contract: ${operation.operationId} needs either an x-scope that exists or an empty security.`);
  }
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    scope: scope as Scope | undefined,
    query: (operation.parameters ?? []).flatMap(({ name, in: place }) => (place === "query" && name ? [name] : [])),
    checkBody: operation.requestBody === undefined ? undefined : bodyCheck(ajv, bodyPointer(path, method)),
  };
}

function bodyPointer(path: string, method: string): string {
  return `contract#/paths/${escapePointer(path)}/${method}/requestBody/content/${escapePointer("application/json")}/schema`;
}

function escapePointer(segment: string): string {
  return encodeURIComponent(segment.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** Ajv, taught the two things that it does not know of our JSON: an int64 is a `bigint`, and text must be well-formed Unicode. */
function createAjv(document: Document): Ajv2020 {
  // The schemas are linted before they are published; to check them against their own schema again takes longer than the rest of the start.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, meta: false, validateSchema: false });
  // Keywords that write their own code are checked in line; a `validate` function is called with an object made for it.
  ajv.addKeyword({ keyword: "int64", code: (context) => context.fail(_`typeof ${context.data} !== "bigint"`) });
  ajv.addKeyword({ keyword: "wellFormed", type: "string", code: (context) => context.fail(_`!${context.data}.isWellFormed()`) });
  ajv.addSchema(exactSchema(document) as object, "contract");
  return ajv;
}

/** The same document with our two keywords in the place of what stands for them. */
function exactSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(exactSchema);
  if (typeof node !== "object" || node === null) return node;
  const schema = node as Record<string, unknown>;
  if (schema["type"] === "integer" && schema["format"] === "int64") return { int64: true };
  const members = Object.entries(schema).map(([key, value]) => [key, exactSchema(value)]);
  return { ...Object.fromEntries(members), ...(schema["type"] === "string" ? { wellFormed: true } : {}) };
}

function bodyCheck(ajv: Ajv2020, pointer: string): (value: unknown) => void {
  const validate: ValidateFunction = ajv.compile({ $ref: pointer });
  return (value) => {
    if (validate(value)) return;
    const [problem] = validate.errors ?? [];
    throw problem ? toError(problem) : new Error(`contract: ${pointer} refused a body without a reason`);
  };
}

function toError({ keyword, instancePath, params }: ErrorObject): PlantStoreError {
  const field = instancePath.slice(1);
  if (keyword === "wellFormed") return new PlantStoreError("invalid_unicode");
  if (keyword === "required") return invalidBody(`The field \`${params["missingProperty"]}\` is missing: add it.`);
  if (field === "") return invalidBody('The body is not an object: send one such as {"id": 1, "name": "Monstera deliciosa"}.');
  if (keyword === "int64") {
    return invalidBody(`The field \`${field}\` must be a whole number from -9223372036854775808 to 9223372036854775807, without quotes.`);
  }
  return invalidBody(`The field \`${field}\` must be a ${params["type"]}: send one, or leave out a field that has no value.`);
}

function invalidBody(message: string): PlantStoreError {
  return new PlantStoreError("invalid_body", { message });
}
