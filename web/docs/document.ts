/** The parts of OpenAPI 3.1 that our contract uses. */
export type Schema = Readonly<{
  $ref?: string;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  type?: string | readonly string[];
  format?: string;
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  items?: Schema;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  uniqueItems?: boolean;
  pattern?: string;
}>;

export type Parameter = Readonly<{
  name: string;
  in: "path" | "query" | "header";
  description?: string;
  required?: boolean;
  schema: Schema;
  example?: unknown;
}>;

export type Media = Readonly<{
  schema: Schema;
  example?: unknown;
  examples?: Readonly<Record<string, Readonly<{ value: unknown }>>>;
}>;

export type Answer = Readonly<{
  description: string;
  headers?: Readonly<Record<string, Readonly<{ description?: string; schema: Schema; example?: unknown }>>>;
  content?: Readonly<Record<string, Media>>;
}>;

/** One operation, with all that it refers to in its place, but for schemas. */
export type Operation = Readonly<{
  id: string;
  tag: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  /** Undefined when it needs no token. */
  scope: string | undefined;
  parameters: readonly Parameter[];
  /** Bodies by media type; none when it takes no body. */
  bodies: Readonly<Record<string, Media>>;
  answers: readonly (readonly [status: string, answer: Answer])[];
}>;

export type Reference = Readonly<{
  title: string;
  version: string;
  description: string;
  groups: readonly Readonly<{ name: string; description: string; operations: readonly Operation[] }>[];
  schemas: Readonly<Record<string, Schema>>;
}>;

type Pointer = Readonly<{ $ref: string }>;
type SourceOperation = Readonly<{
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  "x-scope"?: string;
  parameters?: readonly (Parameter | Pointer)[];
  requestBody?: Readonly<{ content: Readonly<Record<string, Media>> }>;
  responses: Readonly<Record<string, Answer | Pointer>>;
}>;
type Source = Readonly<{
  info: Readonly<{ title: string; version: string; description: string }>;
  tags: readonly Readonly<{ name: string; description: string }>[];
  paths: Readonly<Record<string, Readonly<Record<string, SourceOperation>>>>;
  components: Readonly<{ schemas: Readonly<Record<string, Schema>> }>;
}>;

export function toReference(parsed: unknown): Reference {
  const source = parsed as Source;
  const operations = Object.entries(source.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => toOperation(source, { path, method, operation })),
  );
  return {
    ...source.info,
    groups: source.tags.map(({ name, description }) => ({ name, description, operations: operations.filter(({ tag }) => tag === name) })),
    schemas: source.components.schemas,
  };
}

function toOperation(
  source: Source,
  { path, method, operation }: Readonly<{ path: string; method: string; operation: SourceOperation }>,
): Operation {
  const { operationId, tags, summary, description, parameters = [], requestBody, responses } = operation;
  return {
    id: operationId,
    tag: tags[0] ?? "",
    method: method.toUpperCase(),
    path,
    summary,
    description,
    scope: operation["x-scope"],
    parameters: parameters.map((parameter) => resolve(source, parameter)),
    bodies: requestBody?.content ?? {},
    answers: Object.entries(responses).map(([status, answer]) => [status, toAnswer(source, resolve(source, answer))]),
  };
}

function toAnswer(source: Source, answer: Answer): Answer {
  const headers = Object.entries(answer.headers ?? {}).map(([name, header]) => [name, resolve(source, header)] as const);
  return { ...answer, headers: Object.fromEntries(headers) };
}

/** What a reference points to, or the thing itself. */
function resolve<Thing extends object>(source: Source, thing: Thing | Pointer): Thing {
  if (!("$ref" in thing)) return thing;
  const steps = thing.$ref.slice(2).split("/");
  return resolve(source, steps.reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], source) as Thing);
}

export function nameOf(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

export type Property = Readonly<{ name: string; schema: Schema; isRequired: boolean }>;

/** The fields of an object, its own and those of what it is made of. */
export function fieldsOf(schema: Schema, schemas: Reference["schemas"]): readonly Property[] {
  if (schema.$ref) return fieldsOf(schemas[nameOf(schema.$ref)] ?? {}, schemas);
  if (schema.allOf) return schema.allOf.flatMap((part) => fieldsOf(part, schemas));
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).map(([name, member]) => ({ name, schema: member, isRequired: required.includes(name) }));
}

export function typeText(schema: Schema): string {
  const { $ref, oneOf, type, items, format } = schema;
  if ($ref) return nameOf($ref);
  if (oneOf) return oneOf.map(typeText).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (type === "array") return `list of ${typeText(items ?? {})}`;
  const name = [type ?? "object"].flat().join(" or ");
  return format === undefined ? name : `${name}, ${format}`;
}

/** The limits of a value in a few words, and its default. */
export function limitsText(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, uniqueItems, pattern } = schema;
  return [
    minimum === undefined ? "" : `at least ${minimum}`,
    exclusiveMinimum === undefined ? "" : `above ${exclusiveMinimum}`,
    maximum === undefined ? "" : `at most ${maximum}`,
    minLength === undefined ? "" : `${minLength} to ${maxLength ?? "any number of"} characters`,
    minItems === undefined ? "" : `at least ${minItems}`,
    uniqueItems ? "each once" : "",
    pattern === undefined ? "" : `like ${pattern}`,
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/** An example as the text that is sent or answered: JSON laid out, files as they are. */
export function examplesOf({ example, examples = {} }: Media): readonly (readonly [name: string, text: string])[] {
  const all = Object.entries(examples).map(([name, { value }]) => [name, value] as const);
  if (example !== undefined) all.unshift(["example", example]);
  return all.map(([name, value]) => [name, exampleText(value)]);
}

/** One example. Numbers keep their digits, as `parseExact` has read them. */
export function exampleText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}
