/** The source of the generated files: the served contract, with each whole number as a `bigint`. */
export type Document = Readonly<{
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: Readonly<{
    parameters: Readonly<Record<string, Parameter>>;
    schemas: Readonly<Record<string, Schema>>;
    responses: Readonly<Record<string, Response>>;
  }>;
}>;

export type Operation = Readonly<{
  operationId: string;
  "x-scope"?: string;
  "x-queue"?: string;
  /** "stream": the handler reads the body, and limits it. */
  "x-body"?: string;
  security?: readonly unknown[];
  parameters?: readonly Parameter[];
  requestBody?: Readonly<{ content: Readonly<Record<string, Media>> }>;
}>;

export type Parameter = Readonly<{ $ref?: string; name: string; in: string; schema: Schema }>;

type Media = Readonly<{ schema: Schema; examples?: Readonly<Record<string, Readonly<{ value: unknown }>>> }>;

type Response = Readonly<{ content?: Readonly<Record<string, Media>> }>;

export type Schema = Readonly<{
  $ref?: string;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  enum?: readonly string[];
  const?: unknown;
  type?: string | readonly string[];
  format?: string;
  minimum?: bigint;
  maximum?: bigint;
  maxLength?: bigint;
  pattern?: string;
  default?: unknown;
  items?: Schema;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean;
}>;

/** The last part of a reference. */
export function nameOf(reference: string): string {
  return reference.split("/").at(-1)!;
}

/** The parameters of an operation, including referenced ones. */
export function parametersOf({ parameters = [] }: Operation, { components }: Document): readonly Parameter[] {
  return parameters.map((parameter) => (parameter.$ref ? components.parameters[nameOf(parameter.$ref)]! : parameter));
}

/** All operations, with their paths and methods. */
export function operationsOf({ paths }: Document): ReadonlyArray<Readonly<{ path: string; method: string; operation: Operation }>> {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Writes JSON with every `bigint` as a bare integer. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? JSON.rawJSON(String(member)) : member));
}
