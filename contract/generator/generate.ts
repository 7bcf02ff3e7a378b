// Generates what the service, its page and its client read, from the handwritten contracts: each YAML as JSON, with all
// digits of its numbers; and from the served one the operations, types, errors and body validators, so that code that
// disagrees with it does not compile. `npm run contract` writes the files; with --check it only compares them, and
// exits with 1 if one is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { compileValidators } from "./body-validators.ts";
import { nameOf, operationsOf, parametersOf, toJson } from "./document.ts";
import type { Document, Operation } from "./document.ts";
import { isStreamed, operationTable, takesJson } from "./operation-table.ts";
import { parametersType, schemaType } from "./schema-types.ts";

const HEAD = "// Made from contract/openapi.yaml by contract/generator/generate.ts: do not edit, run `npm run contract`.\n";

function read(name: string): Document {
  // Whole numbers as bigint: an id in an example must not be rounded on its way to the reader.
  return parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"), { intAsBigInt: true }) as Document;
}

const served = read("openapi.yaml");
const { schemas, responses } = served.components;
const all = operationsOf(served);
const withJson = all.filter(({ operation }) => takesJson(operation));

/** Every error of the interface, from the examples of the responses, by number. */
const errors = Object.values(responses)
  .flatMap(({ content }) => Object.entries(content?.["application/json"]?.examples ?? {}))
  .flatMap(([code, { value }]) => (isError(value) ? [[code, value] as const] : []))
  .toSorted(([, left], [, right]) => Number(left.error - right.error));

function isError(value: unknown): value is { error: bigint; message: string } {
  return typeof value === "object" && value !== null && "error" in value;
}

/** The name of the schema of a JSON body. */
function bodySchema({ requestBody }: Operation): string {
  return nameOf(requestBody!.content["application/json"]!.schema.$ref!);
}

function bodyType(operation: Operation): string {
  if (!operation.requestBody) return "undefined";
  return isStreamed(operation) ? "Stream" : `Schemas["${bodySchema(operation)}"]`;
}

/** The validator of a body, and an example for the message about a body that is something else altogether. */
function bodyEntry({ method, operation }: (typeof all)[number]): string {
  const { content } = operation.requestBody!;
  const [example] = Object.values(content["application/json"]!.examples!);
  // The media type of a patch says what it means (RFC 5789, 2). For all others, any JSON will do.
  const types = method === "patch" ? ` types: ${toJson(Object.keys(content))},` : "";
  const schema = bodySchema(operation);
  return `export const ${operation.operationId}: JsonBody<Schemas["${schema}"]> = { kind: "json",${types} example: ${JSON.stringify(toJson(example!.value))}, isValid: is${schema} };\n`;
}

function lines<Item>(items: readonly Item[], toLine: (item: Item) => string): string {
  return items.map((item) => `  ${toLine(item)}\n`).join("");
}

const bodySchemas = [...new Set(withJson.map(({ operation }) => bodySchema(operation)))];
const plainSchemas = JSON.parse(toJson(schemas)) as Parameters<typeof compileValidators>[1];

const files = {
  "openapi.json": `${toJson(served)}\n`,
  "base-1.0.0.json": `${toJson(read("base-1.0.0.yaml"))}\n`,
  "schemas.ts": `${HEAD}
/** The schemas of the contract. An int64 is a bigint, unless its limits say that a number holds it exactly. */
export type Schemas = Readonly<{
${lines(Object.entries(schemas), ([name, schema]) => `${name}: ${schemaType(schema)};`)}}>;
`,
  "operations.ts": `${HEAD}import { ${withJson.flatMap(({ operation }) => (isStreamed(operation) ? [] : [operation.operationId])).join(", ")} } from "./bodies.ts";
import type { Schemas } from "./schemas.ts";

/** The parameters in path and query of each operation, as a handler gets them. */
export type ParametersOf = Readonly<{
${lines(all, ({ operation }) => `${operation.operationId}: ${parametersType(parametersOf(operation, served))};`)}}>;

/** The body of each operation, as a handler gets it: validated JSON, or a stream. */
export type BodyOf<Stream> = Readonly<{
${lines(all, ({ operation }) => `${operation.operationId}: ${bodyType(operation)};`)}}>;

export type OperationId = keyof ParametersOf;

export const OPERATIONS = [
${operationTable(served)}] as const;
`,
  "bodies.ts": `// @ts-nocheck
${HEAD}import type { Schemas } from "./schemas.ts";

/** Why a validator refused a value, in Ajv's terms. */
export type Violation = Readonly<{
  keyword: string;
  instancePath: string;
  params: Readonly<{
    missingProperty?: string;
    type?: string | readonly string[];
    limit?: number;
    exclusiveMinimum?: number;
    maximum?: number;
    allowedValues?: readonly string[];
    unknown?: string;
    known?: readonly string[];
  }>;
}>;

export type JsonBody<Value> = Readonly<{
  kind: "json";
  /** The media types allowed; without them, any JSON will do. */
  types?: readonly string[];
  /** A valid body. */
  example: string;
  /** Sets \`errors\` for the last value. Converts a \`bigint\` to a \`number\` where the schema wants one. */
  isValid: ((value: unknown) => value is Value) & { errors?: readonly Violation[] | null };
}>;

${compileValidators(Object.fromEntries(bodySchemas.map((name) => [`is${name}`, plainSchemas[name]!])), plainSchemas)}

${withJson.map(bodyEntry).join("")}`,
  "error-catalogue.ts": `${HEAD}
/** Every error of the interface. The number is the HTTP status times 100, plus n, and never reused; the message is for the caller. */
export const CATALOGUE = {
${lines(errors, ([code, value]) => `${code}: ${toJson(value)},`)}} as const;
`,
  "../../src/client/error-numbers.ts": `${HEAD}
/** All errors of the interface, by name. A number is the HTTP status times 100, plus n, and is never reused. */
export const ERROR_NUMBERS = {
${lines(errors, ([code, { error }]) => `${code}: ${error},`)}} as const;
`,
};

for (const [name, text] of Object.entries(files)) {
  const path = new URL(`../generated/${name}`, import.meta.url);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`${join("contract/generated", name)} is not what the YAML says: run \`npm run contract\`.\n`);
    process.exitCode = 1;
  }
}
