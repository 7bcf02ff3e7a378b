import { createPlant } from "../../contract/generated/bodies.ts";
import type { JsonBody, Violation } from "../../contract/generated/bodies.ts";
import { PlantStoreError } from "./errors.ts";
import { toNewPlant } from "./plant.ts";
import type { NewPlant } from "./plant.ts";

/** Validates a value against the contract. Throws `invalid_body` with the name of the field, or `invalid_unicode`. */
export function checkBody<Value>({ isValid, example }: JsonBody<Value>, value: unknown): Value {
  if (isValid(value)) return value;
  const [violation] = isValid.errors ?? [];
  throw violation ? toError(violation, example) : new Error("contract: a body was refused without a reason");
}

/** Validates a value as the body of a create, and returns the plant. Throws like `checkBody`. */
export function parsePlant(value: unknown): NewPlant {
  return toNewPlant(checkBody(createPlant, value));
}

function toError({ keyword, instancePath, params }: Violation, example: string): PlantStoreError {
  const path = instancePath.slice(1);
  const [field = "", ...inside] = path.split("/");
  if (keyword === "wellFormed") return new PlantStoreError("invalid_unicode");
  if (keyword === "only") return invalidBody(toUnknown(path, params));
  if (keyword === "required") return invalidBody(`The field \`${path && `${path}/`}${params.missingProperty}\` is missing: add it.`);
  if (field === "") return invalidBody(`The body is not an object: send one such as ${example}.`);
  const subject = inside.length === 1 ? `Each value in the field \`${field}\`` : `The field \`${path}\``;
  return invalidBody(`${subject} ${PROBLEMS[keyword]?.(params) ?? "does not match /openapi.json: send it as described there"}.`);
}

/** The message for a field that does not exist. Its name is repeated only if it can mean nothing else to a reader. */
function toUnknown(path: string, { unknown = "", known = [] }: Violation["params"]): string {
  const name = /^[\p{L}\p{M}\p{N} _-]{1,50}$/u.test(unknown)
    ? `The field \`${path && `${path}/`}${unknown}\``
    : `A field of ${path ? `\`${path}\`` : "the body"}`;
  return `${name} is unknown: send only ${known.map((one) => `\`${one}\``).join(", ")}.`;
}

/** Types that are not called "a" and their name. */
const NOUNS: Readonly<Record<string, string>> = { array: "a list", null: "null", object: "an object" };

/** What is wrong with a value, and what to do about it, by the keyword that it violates. */
const PROBLEMS: Readonly<Record<string, (params: Violation["params"]) => string>> = {
  int64: () => "must be a whole number from -9223372036854775808 to 9223372036854775807, without quotes",
  within: ({ exclusiveMinimum, maximum }) => `must be a number above ${exclusiveMinimum} and at most ${maximum}, without quotes`,
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((one) => NOUNS[one!] ?? `a ${one}`)
      .join(" or ")}: send one, or leave out a field that has no value`,
  enum: ({ allowedValues }) => `must be one of ${allowedValues?.join(", ")}`,
  minLength: ({ limit }) => `must have ${limit} or more characters: send a longer one`,
  maxLength: ({ limit }) => `must have at most ${limit} characters: send a shorter one`,
  maxItems: ({ limit }) => `must have at most ${limit} values: send the others in another request`,
  minItems: ({ limit }) => `must have ${limit} or more values: add one`,
  uniqueItems: () => "has a value twice: send each value once",
};

export function invalidBody(message: string): PlantStoreError {
  return new PlantStoreError("invalid_body", { message });
}
