// Makes what the service reads from the contracts that people write: each YAML as JSON, with every digit of its numbers kept, and the
// types of the served one: its operations, their parameters and its schemas, so that what disagrees with it does not compile.
// `npm run contract` writes the files; with --check it only compares, and exits with 1 when one is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { toJson } from "../src/json.ts";

type Schema = Readonly<{
  $ref?: string;
  allOf?: readonly Schema[];
  enum?: readonly string[];
  const?: unknown;
  type?: string | readonly string[];
  format?: string;
  minimum?: bigint;
  maximum?: bigint;
  default?: unknown;
  items?: Schema;
  required?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
}>;
type Parameter = Readonly<{ $ref?: string; name: string; in: string; schema: Schema }>;
type Operation = Readonly<{ operationId: string; parameters?: readonly Parameter[] }>;
type Document = Readonly<{
  paths: Record<string, Record<string, Operation>>;
  components: { parameters: Record<string, Parameter>; schemas: Record<string, Schema> };
}>;

function read(name: string): Document {
  // Whole numbers as bigint: an id in an example must not be rounded on its way to the reader.
  return parse(readFileSync(new URL(name, import.meta.url), "utf8"), { intAsBigInt: true }) as Document;
}

const served = read("openapi.yaml");
const operations = Object.values(served.paths).flatMap((methods) => Object.values(methods));

/** The parameters in path and query, once they are read: one with a default is always there. */
function parametersType({ parameters = [] }: Operation): string {
  const fields = parameters
    .map((parameter) => (parameter.$ref ? served.components.parameters[nameOf(parameter.$ref)]! : parameter))
    .filter((parameter) => parameter.in !== "header")
    .map(({ name, in: place, schema }) => `${name}${place === "path" || "default" in schema ? "" : "?"}: ${schemaType(schema)}`);
  return objectType(fields);
}

function schemaType(schema: Schema): string {
  const { $ref, allOf, type, items } = schema;
  if ($ref) return `Schemas["${nameOf($ref)}"]`;
  if (allOf) return allOf.map(schemaType).join(" & ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (typeof type === "object") return type.map((one) => schemaType({ type: one })).join(" | ");
  if (type === "integer") return isExactAsNumber(schema) ? "number" : "bigint";
  if (type === "array") return `ReadonlyArray<${schemaType(items!)}>`;
  if (type !== "object") return type!;
  const { properties, required = [] } = schema;
  if (!properties) return "Readonly<Record<string, unknown>>";
  return objectType(
    Object.entries(properties).map(([name, member]) => `${name}${required.includes(name) ? "" : "?"}: ${schemaType(member)}`),
  );
}

/** Whether each value is one that a double holds exactly. */
function isExactAsNumber({ format, minimum, maximum }: Schema): boolean {
  if (format !== "int64") return true;
  return minimum !== undefined && maximum !== undefined && minimum >= Number.MIN_SAFE_INTEGER && maximum <= Number.MAX_SAFE_INTEGER;
}

function objectType(fields: readonly string[]): string {
  return fields.length === 0 ? "Readonly<Record<string, never>>" : `Readonly<{ ${fields.join("; ")} }>`;
}

function nameOf(reference: string): string {
  return reference.split("/").at(-1)!;
}

function members(entries: ReadonlyArray<readonly [name: string, type: string]>): string {
  return entries.map(([name, type]) => `  ${name}: ${type};\n`).join("");
}

const files = {
  "openapi.json": `${toJson(served)}\n`,
  "base-1.0.0.json": `${toJson(read("base-1.0.0.yaml"))}\n`,
  "operations.ts": `// Made from openapi.yaml by generate.ts: do not edit, run \`npm run contract\`.

/** The parameters in path and query of each operation, as a handler gets them. */
export type ParametersOf = Readonly<{
${members(operations.map((operation) => [operation.operationId, parametersType(operation)]))}}>;

export type OperationId = keyof ParametersOf;

/** What the contract names. An int64 is a bigint, unless its limits say that a number holds it exactly. */
export type Schemas = Readonly<{
${members(Object.entries(served.components.schemas).map(([name, schema]) => [name, schemaType(schema)]))}}>;
`,
};

for (const [name, text] of Object.entries(files)) {
  const path = new URL(name, import.meta.url);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`contract/${name} is not what the YAML says: run \`npm run contract\`.\n`);
    process.exitCode = 1;
  }
}
