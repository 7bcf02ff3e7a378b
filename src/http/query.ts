import type { ParameterSchema, QueryParameter } from "../domain/contract.ts";
import { invalidQuery } from "../domain/errors.ts";
import type { PlantStoreError } from "../domain/errors.ts";
import { parsePlantId } from "../domain/plant.ts";

const INT32_MAX = 2 ** 31 - 1;

/**
 * Parses a query as the contract describes it, with its defaults. Throws `invalid_query`, which names a parameter that
 * is wrong or repeated. For an unknown one it names the known ones instead.
 */
export function parseQuery(query: string, parameters: readonly QueryParameter[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const [name = "", ...rest] = pair.split("=");
    const given = decode(name);
    const parameter = parameters.find((candidate) => candidate.name === given);
    if (!parameter) throw unknown(parameters);
    if (parameter.name in values) throw refuse(parameter.name, "is given twice: send it once");
    values[parameter.name] = read(parameter, decode(rest.join("=")));
  }
  for (const { name, schema } of parameters) if (schema.default !== undefined) values[name] ??= schema.default;
  return values;
}

function read({ name, schema }: QueryParameter, text: string): unknown {
  const value = parse(schema, text);
  if (value === undefined) throw refuse(name, `must be ${describe(schema)}`);
  return value;
}

/** Undefined for what the schema does not allow. */
function parse({ type, format, minimum = 0, maxLength = Infinity, pattern, enum: choices }: ParameterSchema, text: string): unknown {
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  if (type === "string") return (choices?.includes(text) ?? true) && isWithin(text, maxLength) && fits(text, pattern) ? text : undefined;
  if (format === "int64") return parsePlantId(text);
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return value >= minimum && value <= INT32_MAX ? value : undefined;
}

function fits(text: string, pattern: string | undefined): boolean {
  return pattern === undefined || new RegExp(pattern, "u").test(text);
}

/** JSON Schema counts characters, each of which is one or two UTF-16 units. */
function isWithin(text: string, lengthMax: number): boolean {
  return text.length <= lengthMax || Array.from(text).length <= lengthMax;
}

function describe({ type, format, minimum = 0, maxLength, pattern, enum: choices }: ParameterSchema): string {
  if (type === "boolean") return "true or false";
  if (choices) return choices.join(" or ");
  if (pattern !== undefined) return `text like ${pattern}`;
  if (maxLength !== undefined) return `text of at most ${maxLength} characters: send a shorter one`;
  if (format === "int64") return "a whole number from -9223372036854775808 to 9223372036854775807, without leading zeros";
  return `a whole number from ${minimum} to ${INT32_MAX}`;
}

/** Decodes form encoding. Invalid UTF-8 is not replaced: that would search for something else. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw invalidQuery("The query is not UTF-8 in percent-encoding: encode it that way.");
  }
}

function unknown(known: readonly QueryParameter[]): PlantStoreError {
  const names = known.map(({ name }) => `\`${name}\``).join(", ");
  const message = names === "" ? "This operation has no query parameters: send none." : `A query parameter is unknown: send only ${names}.`;
  return invalidQuery(message);
}

function refuse(name: string, problem: string): PlantStoreError {
  return invalidQuery(`The query parameter \`${name}\` ${problem}.`);
}
