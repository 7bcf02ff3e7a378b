import { PlantStoreError } from "../../src/errors.ts";
import type { NewPlant, PlantId } from "../../src/plant.ts";

/**
 * Checks what a line of a file holds as the service does, in the same order and words; there it follows from the contract, and the machinery
 * for that is too large for a page. `test/web/preview.test.ts` holds the two against each other.
 */
export function checkPlant(value: unknown): NewPlant {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid('The body is not an object: send one such as {"id":1,"name":"Monstera deliciosa","tag":"tropical"}.');
  }
  const { id, name, tag } = value as Record<string, unknown>;
  if (name === undefined) throw missing("name");
  checkText("name", name);
  if (tag !== undefined) checkText("tag", tag);
  if (id === undefined) throw missing("id");
  if (typeof id !== "bigint") {
    throw invalid("The field `id` must be a whole number from -9223372036854775808 to 9223372036854775807, without quotes.");
  }
  // The reader of both forms gives a bigint only within int64.
  const plant = { id: id as PlantId, name };
  return tag === undefined ? plant : { ...plant, tag };
}

function checkText(field: string, value: unknown): asserts value is string {
  if (typeof value !== "string")
    throw invalid(`The field \`${field}\` must be a string: send one, or leave out a field that has no value.`);
  if (!value.isWellFormed()) throw new PlantStoreError("invalid_unicode");
}

function missing(field: string): PlantStoreError {
  return invalid(`The field \`${field}\` is missing: add it.`);
}

function invalid(message: string): PlantStoreError {
  return new PlantStoreError("invalid_body", { message });
}
