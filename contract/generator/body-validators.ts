// Compiles the contract's schemas of JSON bodies into code without dependencies. So neither the service nor the page
// compiles anything at start, and both validate with the same code.
import { _, Ajv } from "ajv";
import type { KeywordCxt } from "ajv";
import type { KeywordErrorCxt } from "ajv/dist/types/index.js";
import standalone from "ajv/dist/standalone/index.js";

/** A JSON Schema, with its numbers as doubles. */
type Schema = Readonly<{
  [keyword: string]: unknown;
  $ref?: string;
  description?: string;
  type?: unknown;
  format?: unknown;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Named;
  additionalProperties?: boolean;
}>;

type Named = Readonly<Record<string, Schema>>;

type Limits = Readonly<{ exclusiveMinimum: number; maximum: number }>;

/**
 * Returns the code of a validator for each of these schemas, under the same names. `named` are the schemas that others
 * refer to.
 */
export function compileValidators(schemas: Named, named: Named): string {
  const ajv = createAjv();
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(exactSchema(schema, named), name);
  const code = standalone.default(ajv, Object.fromEntries(Object.keys(schemas).map((name) => [name, name])));
  // Anything the code needs at run time must be inline: the service and the page do not have Ajv.
  const foreign = /\b(require|import)\b.*/.exec(code);
  if (foreign) throw new Error(`contract: a validator needs something else: ${foreign[0]}`);
  return code.replace('"use strict";', "").replaceAll("export const", "const").trim();
}

/** Ajv, extended for our JSON: a whole number is a `bigint`, and text must be well-formed Unicode. */
function createAjv(): Ajv {
  const code = { source: true, esm: true, lines: true };
  // Strict: a keyword that nothing checks is an error. Not Ajv's 2020-12 class: it adds a property to each function,
  // and then a bundler cannot drop unused ones.
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, messages: false, code });
  ajv.addKeyword({ keyword: "int64", code: (context) => context.fail(_`typeof ${context.data} !== "bigint"`) });
  ajv.addKeyword({
    keyword: "within",
    modifying: true,
    code: checkWithin,
    error: { message: "", params: ({ schemaCode }) => _`${schemaCode}` },
  });
  // Ajv's own keywords count characters with a function of its package.
  for (const [keyword, isBeyond] of Object.entries(LENGTHS)) {
    ajv.removeKeyword(keyword);
    const error = { message: "", params: ({ schemaCode }: Pick<KeywordCxt, "schemaCode">) => _`{limit: ${schemaCode}}` };
    ajv.addKeyword({ keyword, type: "string", schemaType: "number", code: (context) => context.fail(isBeyond(context)), error });
  }
  // Before "required": a misspelt field is what is wrong, not the one that is missing for it.
  ajv.addKeyword({ keyword: "only", type: "object", schemaType: "array", before: "required", code: checkOnly, error: UNKNOWN });
  ajv.addKeyword({ keyword: "wellFormed", type: "string", code: (context) => context.fail(_`!${context.data}.isWellFormed()`) });
  return ajv;
}

/** JSON Schema counts characters, each of one or two UTF-16 units. */
const LENGTHS = {
  maxLength: ({ data, schemaCode }: KeywordCxt) => _`${data}.length > ${schemaCode} && Array.from(${data}).length > ${schemaCode}`,
  minLength: ({ data, schemaCode }: KeywordCxt) => _`${data}.length < ${schemaCode} * 2 && Array.from(${data}).length < ${schemaCode}`,
};

const UNKNOWN = {
  message: "",
  params: ({ params, schemaCode }: KeywordErrorCxt) => _`{unknown: ${params["unknown"]}, known: ${schemaCode}}`,
};

/** Refuses members with other names than these. Ajv's own keyword does not report which ones there are. */
function checkOnly(context: KeywordCxt): void {
  const { data, schemaCode, gen } = context;
  const unknown = gen.const("unknown", _`Object.keys(${data}).find((name) => !${schemaCode}.includes(name))`);
  context.setParams({ unknown });
  context.fail(_`${unknown} !== undefined`);
}

/**
 * A number with or without a fraction. Without one it is a `bigint`, which JSON Schema's own limits do not check; it is
 * converted to a `number`.
 */
function checkWithin(context: KeywordCxt): void {
  const { data, schema, gen, it } = context;
  const { exclusiveMinimum, maximum } = schema as Limits;
  context.fail(_`typeof ${data} !== "number" && typeof ${data} !== "bigint" || ${data} <= ${exclusiveMinimum} || ${data} > ${maximum}`);
  gen.assign(_`${it.parentData}[${it.parentDataProperty}]`, _`Number(${data})`);
}

/**
 * The same schema with its references resolved, and our keywords instead of those that they stand for. Throws if they
 * cannot express the same.
 */
function exactSchema({ description: _description, ...schema }: Schema, named: Named): Schema {
  const { $ref, allOf, oneOf, items, properties, additionalProperties, ...rules } = schema;
  const { type, format, ...limits } = rules;
  const exact = (one: Schema) => exactSchema(one, named);
  if ($ref !== undefined) return expectOnly(schema, ["$ref"], exact(named[$ref.split("/").at(-1)!]!));
  if (oneOf) return orNull(expectOnly(schema, ["oneOf"], exact(oneOf[0]!)), oneOf);
  if (type === "integer" && format !== "int64") throw new Error("contract: a whole number in a body is an int64.");
  if (type === "integer") return expectOnly(schema, ["type", "format"], { int64: true });
  // The handler parses an instant, and so checks it.
  if (format === "date-time") return expectOnly(schema, ["type", "format"], { type, wellFormed: true });
  if (type === "number") return expectOnly(limits, ["exclusiveMinimum", "maximum"], { within: limits });
  return {
    ...rules,
    ...(allOf && { allOf: allOf.map(exact) }),
    ...(items && { items: exact(items) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, exact(one)])) }),
    ...(additionalProperties === false && { only: Object.keys(properties!) }),
    ...([type].flat().includes("string") && { wellFormed: true }),
  };
}

/** The first of these schemas or null, as one type: so a refusal names the field that is wrong. Throws if they are others. */
function orNull(exact: Schema, [, nothing, ...others]: readonly Schema[]): Schema {
  if (exact.type !== "object" || nothing?.type !== "null" || others.length > 0) throw new Error("contract: oneOf is an object or null.");
  return { ...exact, type: ["object", "null"] };
}

/** Returns `meaning` if the schema has exactly these keywords. Throws otherwise. */
function expectOnly(schema: Schema, keywords: readonly string[], meaning: Schema): Schema {
  const [odd] = [...Object.keys(schema).filter((one) => !keywords.includes(one)), ...keywords.filter((one) => !(one in schema))];
  if (odd !== undefined)
    throw new Error(`contract: the validators of bodies know ${keywords.join(", ")} together, and nothing else: ${odd}`);
  return meaning;
}
