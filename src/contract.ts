import { readFileSync } from "node:fs";
import { _, Ajv2020 } from "ajv/dist/2020.js";
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import type { OperationId } from "../contract/operations.ts";
import { PlantStoreError } from "./errors.ts";
import { toNewPlant } from "./plant.ts";
import type { NewPlant } from "./plant.ts";
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
  query: readonly QueryParameter[];
  body: Body;
}>;

export type QueryParameter = Readonly<{ name: string; schema: ParameterSchema }>;

export type ParameterSchema = Readonly<{
  type: "integer" | "string" | "boolean";
  format?: "int32" | "int64";
  minimum?: number;
  enum?: readonly string[];
  default?: string | number | boolean;
}>;

/** What an operation takes: nothing, one JSON text, or a stream in one of some media types. */
type Body =
  | Readonly<{ kind: "none" }>
  /** `check` throws `invalid_body`, naming the field; or `invalid_unicode`. */
  | Readonly<{ kind: "json"; check: (value: unknown) => void }>
  | Readonly<{ kind: "stream"; types: readonly string[] }>;

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
    Object.entries(methods).map(([method, operation]) => toOperation({ path, method, operation, document, ajv })),
  );
  return { operations, served, base: readDocument("base-1.0.0.json") };
}

/** Checks a value as the body of a create, and makes a plant of it. Throws as the check does. */
export function plantParser({ operations }: Contract): (value: unknown) => NewPlant {
  const body = operations.find(({ id }) => id === "createPlant")?.body;
  if (body?.kind !== "json") throw new Error("contract: createPlant takes no JSON.");
  return (value) => {
    body.check(value);
    return toNewPlant(value);
  };
}

type Document = Readonly<{
  paths: Record<string, Record<string, DocumentOperation>>;
  components: { parameters: Record<string, DocumentParameter> };
}>;

type DocumentParameter = Readonly<{ $ref?: string; name: string; in: string; schema: ParameterSchema }>;

type DocumentOperation = Readonly<{
  operationId: OperationId;
  "x-scope"?: string;
  security?: readonly unknown[];
  parameters?: readonly DocumentParameter[];
  requestBody?: { content: Record<string, unknown> };
}>;

/** The JSON form of a contract: people write the YAML beside it, which takes fifty times as long to read. */
function readDocument(name: string): string {
  return readFileSync(new URL(`../contract/${name}`, import.meta.url), "utf8").trimEnd();
}

type Source = Readonly<{ path: string; method: string; operation: DocumentOperation; document: Document; ajv: Ajv2020 }>;

function toOperation(source: Source): Operation {
  const { path, method, operation, document } = source;
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
    query: (operation.parameters ?? [])
      .map((parameter) => (parameter.$ref ? document.components.parameters[parameter.$ref.split("/").at(-1)!]! : parameter))
      .filter((parameter) => parameter.in === "query"),
    body: toBody(source),
  };
}

function toBody({ path, method, operation, ajv }: Source): Body {
  if (!operation.requestBody) return { kind: "none" };
  const types = Object.keys(operation.requestBody.content);
  if (!types.includes("application/json")) return { kind: "stream", types };
  return { kind: "json", check: bodyCheck(ajv, bodyPointer(path, method)) };
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
  return { ...Object.fromEntries(members), ...([schema["type"]].flat().includes("string") ? { wellFormed: true } : {}) };
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
  return invalidBody(
    `The field \`${field}\` must be a ${[params["type"]].flat().join(" or ")}: send one, or leave out a field that has no value.`,
  );
}

function invalidBody(message: string): PlantStoreError {
  return new PlantStoreError("invalid_body", { message });
}
