import { readFileSync } from "node:fs";
import { _, Ajv2020, stringify } from "ajv/dist/2020.js";
import type { ErrorObject, KeywordCxt, ValidateFunction } from "ajv/dist/2020.js";
import type { OperationId } from "../contract/operations.ts";
import { PlantStoreError } from "./errors.ts";
import { toNewPlant } from "./plant.ts";
import type { NewPlant } from "./plant.ts";
import { isScope } from "./scope.ts";
import type { RequiredScope } from "./scope.ts";
import { QUEUES } from "./store/store.ts";
import type { Queue } from "./store/store.ts";

/** One operation of the served contract. */
export type Operation = Readonly<{
  id: OperationId;
  /** In capitals, as on the wire. */
  method: string;
  path: string;
  /** The scope that a token needs, "any" when each valid one will do; undefined when the operation needs no token. */
  scope: RequiredScope | undefined;
  /** What a write waits in until its commit; undefined when the operation writes nothing. */
  queue: Queue | "imports" | undefined;
  /** What stands for `{id}` at the end of the path, if anything. */
  pathId: ParameterSchema | undefined;
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
  /** In characters, not in UTF-16 units. */
  maxLength?: number;
  pattern?: string;
  default?: string | number | boolean;
}>;

/** What an operation takes: nothing, one JSON text, or a stream in one of some media types. */
type Body =
  | Readonly<{ kind: "none" }>
  /**
   * `check` throws `invalid_body`, naming the field; or `invalid_unicode`. Of a patch the media type says what it means (RFC 5789, 2), so that it
   * has one of these `types`; for all else, any JSON will do.
   */
  | Readonly<{ kind: "json"; types?: readonly string[]; check: (value: unknown) => void }>
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
  "x-queue"?: string;
  security?: readonly unknown[];
  parameters?: readonly DocumentParameter[];
  requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> };
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
  if (isPublic ? scope !== undefined : scope === undefined || !(scope === "any" || isScope(scope))) {
    throw new Error(`contract: ${operation.operationId} needs either an x-scope that exists or an empty security.`);
  }
  const parameters = (operation.parameters ?? []).map((parameter) =>
    parameter.$ref ? document.components.parameters[parameter.$ref.split("/").at(-1)!]! : parameter,
  );
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    scope: scope as RequiredScope | undefined,
    queue: parseQueue(operation, method),
    pathId: parameters.find((parameter) => parameter.in === "path")?.schema,
    query: parameters.filter((parameter) => parameter.in === "query"),
    body: toBody(source),
  };
}

/** Every operation that may change something says in which queue its change waits. */
function parseQueue({ operationId, "x-queue": queue }: DocumentOperation, method: string): Operation["queue"] {
  const known = [...QUEUES, "imports"] as const;
  const found = known.find((name) => name === queue);
  if (found !== queue) throw new Error(`contract: ${operationId} names the queue ${queue}, which there is not.`);
  if (method !== "get" && !found) throw new Error(`contract: ${operationId} changes something, and needs an x-queue.`);
  return found;
}

function toBody({ path, method, operation, ajv }: Source): Body {
  if (!operation.requestBody) return { kind: "none" };
  const types = Object.keys(operation.requestBody.content);
  if (!types.includes("application/json")) return { kind: "stream", types };
  const [example] = Object.values(operation.requestBody.content["application/json"]?.examples ?? {});
  const patch = method === "patch" ? { types } : {};
  return { kind: "json", ...patch, check: bodyCheck(ajv, bodyPointer(path, method), JSON.stringify(example?.value)) };
}

function bodyPointer(path: string, method: string): string {
  return `contract#/paths/${escapePointer(path)}/${method}/requestBody/content/${escapePointer("application/json")}/schema`;
}

function escapePointer(segment: string): string {
  return encodeURIComponent(segment.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** Ajv, taught what it does not know of our JSON: a whole number is a `bigint`, and text must be well-formed Unicode. */
function createAjv(document: Document): Ajv2020 {
  // The schemas are linted before they are published; to check them against their own schema again takes longer than the rest of the start.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, meta: false, validateSchema: false });
  // Keywords that write their own code are checked in line; a `validate` function is called with an object made for it.
  ajv.addKeyword({ keyword: "int64", code: (context) => context.fail(_`typeof ${context.data} !== "bigint"`) });
  ajv.addKeyword({ keyword: "wellFormed", type: "string", code: (context) => context.fail(_`!${context.data}.isWellFormed()`) });
  ajv.addKeyword({
    keyword: "within",
    code: failOutside,
    error: { message: "must be within", params: ({ schema }) => _`${stringify(schema)}` },
  });
  ajv.addSchema(exactSchema(document) as object, "contract");
  return ajv;
}

/** A number with or without a fraction: one without comes as a `bigint`, for which JSON Schema's own limits do not hold. */
function failOutside(context: KeywordCxt): void {
  const { data, schema } = context;
  const { exclusiveMinimum, maximum } = schema as Limits;
  context.fail(_`typeof ${data} !== "number" && typeof ${data} !== "bigint" || ${data} <= ${exclusiveMinimum} || ${data} > ${maximum}`);
}

type Limits = Readonly<{ exclusiveMinimum: number; maximum: number }>;

/** The same document with our keywords in the place of what stands for them. */
function exactSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(exactSchema);
  if (typeof node !== "object" || node === null) return node;
  const schema = node as Record<string, unknown>;
  if (schema["type"] === "integer" && schema["format"] === "int64") return { int64: true };
  const { type, exclusiveMinimum, maximum } = schema;
  if (type === "number") return { within: { exclusiveMinimum, maximum } };
  const members = Object.entries(schema).map(([key, value]) => [key, exactSchema(value)]);
  return { ...Object.fromEntries(members), ...([schema["type"]].flat().includes("string") ? { wellFormed: true } : {}) };
}

/** `example` is a good body, for the message to somebody who sent something else altogether. */
function bodyCheck(ajv: Ajv2020, pointer: string, example: string): (value: unknown) => void {
  const validate: ValidateFunction = ajv.compile({ $ref: pointer });
  return (value) => {
    if (validate(value)) return;
    const [problem] = validate.errors ?? [];
    throw problem ? toError(problem, example) : new Error(`contract: ${pointer} refused a body without a reason`);
  };
}

function toError({ keyword, instancePath, params }: ErrorObject, example: string): PlantStoreError {
  const [, field = "", ...inside] = instancePath.split("/");
  if (keyword === "wellFormed") return new PlantStoreError("invalid_unicode");
  if (keyword === "required") return invalidBody(`The field \`${params["missingProperty"]}\` is missing: add it.`);
  if (field === "") return invalidBody(`The body is not an object: send one such as ${example}.`);
  const subject = inside.length > 0 ? `Each value in the field \`${field}\`` : `The field \`${field}\``;
  return invalidBody(`${subject} ${PROBLEMS[keyword]?.(params) ?? "is not as /openapi.json says: send it so"}.`);
}

/** What is wrong with a value, and what to do, by the keyword that refused it. */
const PROBLEMS: Readonly<Record<string, (params: ErrorObject["params"]) => string>> = {
  int64: () => "must be a whole number from -9223372036854775808 to 9223372036854775807, without quotes",
  within: ({ exclusiveMinimum, maximum }) => `must be a number above ${exclusiveMinimum} and at most ${maximum}, without quotes`,
  type: ({ type }) => `must be a ${[type].flat().join(" or ").replace("array", "list")}: send one, or leave out a field that has no value`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as string[]).join(", ")}`,
  minLength: ({ limit }) => `has fewer characters than ${limit}: send a longer one`,
  maxLength: ({ limit }) => `has more characters than ${limit}: send a shorter one`,
  minItems: ({ limit }) => `has fewer values than ${limit}: add one`,
  uniqueItems: () => "has a value twice: send each once",
};

function invalidBody(message: string): PlantStoreError {
  return new PlantStoreError("invalid_body", { message });
}
