import { nameOf } from "./document.ts";
import type { Parameter, Schema } from "./document.ts";

/** The TypeScript type for a schema. */
export function schemaType(schema: Schema): string {
  const { $ref, allOf, oneOf, type, items } = schema;
  if ($ref) return `Schemas["${nameOf($ref)}"]`;
  if (allOf) return allOf.map(schemaType).join(" & ");
  if (oneOf) return oneOf.map(schemaType).join(" | ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (typeof type === "object") return type.map((one) => schemaType({ ...schema, type: one })).join(" | ");
  if (type === "integer") return isExactAsNumber(schema) ? "number" : "bigint";
  if (type === "array") return `ReadonlyArray<${schemaType(items!)}>`;
  if (type !== "object") return type!;
  const { properties, required = [] } = schema;
  if (!properties) return "Readonly<Record<string, unknown>>";
  return objectType(
    Object.entries(properties).map(([name, member]) => `${name}${required.includes(name) ? "" : "?"}: ${schemaType(member)}`),
  );
}

/** The type of the parsed path and query parameters: one with a default is always there. */
export function parametersType(parameters: readonly Parameter[]): string {
  const fields = parameters
    .filter((parameter) => parameter.in !== "header")
    .map(({ name, in: place, schema }) => `${name}${place === "path" || "default" in schema ? "" : "?"}: ${schemaType(schema)}`);
  return objectType(fields);
}

/** Whether a double holds every value exactly. */
function isExactAsNumber({ format, minimum, maximum }: Schema): boolean {
  if (format !== "int64") return true;
  return minimum !== undefined && maximum !== undefined && minimum >= Number.MIN_SAFE_INTEGER && maximum <= Number.MAX_SAFE_INTEGER;
}

function objectType(fields: readonly string[]): string {
  return fields.length === 0 ? "Readonly<Record<string, never>>" : `Readonly<{ ${fields.join("; ")} }>`;
}
