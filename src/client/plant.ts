import { oneOf, parseFields, parseNumber, parseObject, parseText } from "./json.ts";

/** A whole plant: it has no other fields. `id` is a 64-bit integer, -2^63 to 2^63-1. */
export type Plant = Readonly<{ id: bigint; name: string; tag?: string }>;

/** The name and the tag of a plant. */
export type PlantContent = Omit<Plant, "id">;

/** A plant as stored now, with its ETag. Pass that as `ifMatch` to change only what you have seen. */
export type StoredPlant = Readonly<{ plant: Plant; etag: string }>;

/**
 * The result of a put. `isNew`: it created the plant. Also false if a first try created it and the response was lost.
 */
export type PutPlant = StoredPlant & Readonly<{ isNew: boolean }>;

/** The fields to change; the others stay as they are. `tag: null` removes the tag. */
export type PlantPatch = Readonly<{ name?: string; tag?: string | null }>;

/** A tag, and how many plants have it. With a `precision` there may be more. */
export type TagCount = Readonly<{ tag: string; plants: number; precision?: "atLeast" }>;

/**
 * A number of plants. "exact": all were counted. "about": the number comes from the statistics of the database, and is
 * rounded. "atLeast": there may be more, because at most 10,000 of the plants that match are counted.
 */
export type PlantCount = Readonly<{ plants: number; precision: "exact" | "about" | "atLeast" }>;

/** The most frequent tags. Changes of the last `ageSeconds` may be missing: 0, unless counting takes long. */
export type Tags = Readonly<{ tags: readonly TagCount[]; ageSeconds: number }>;

const ID_MIN = -(2n ** 63n);
const ID_MAX = 2n ** 63n - 1n;

/** 11 digits are the most that Excel shows, and writes into CSV, without an exponent. */
const MADE_ID_MIN = 10_000_000_000n;
const MADE_IDS = 90_000_000_000n;

/**
 * A random id of 11 digits, for a plant that has none: short enough to be read out, and to survive a spreadsheet. Most
 * likely no one has it: with a million plants, one in 90,000 does.
 */
export function makeId(): bigint {
  const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return MADE_ID_MIN + (random % MADE_IDS);
}

/**
 * The id as paths and bodies have it. Throws a TypeError if it is not a bigint (a `number` may be rounded), a
 * RangeError outside int64.
 */
export function idText(id: bigint): string {
  if (typeof id !== "bigint") throw new TypeError(`The id is a ${typeof id}: give a bigint, such as 1n.`);
  if (id < ID_MIN || id > ID_MAX) throw new RangeError("The id is outside int64: give a whole number from -2^63 to 2^63-1.");
  return String(id);
}

/** The plant as JSON, its id with all digits. Throws like `idText`. */
export function plantText({ id, name, tag }: Plant): string {
  // By hand, because JSON.stringify does not take a bigint.
  return `{"id":${idText(id)},"name":${JSON.stringify(name)}${tag === undefined ? "" : `,"tag":${JSON.stringify(tag)}`}}`;
}

/** The plant as JSON, without its id. */
export function contentText({ name, tag }: Plant): string {
  return JSON.stringify({ name, tag });
}

/** Reads a plant from parsed JSON and drops unknown fields. Throws a TypeError if it is not a plant. */
export function parsePlant(value: unknown): Plant {
  const { id } = parseFields(value);
  if (typeof id !== "bigint") throw new TypeError("not a plant");
  return { id, ...parseContent(value) };
}

/** Reads the fields other than the id, as the response to a create has them. Throws a TypeError. */
export function parseContent(value: unknown): PlantContent {
  const { name, tag } = parseFields(value);
  if (typeof name !== "string" || (tag !== undefined && typeof tag !== "string")) throw new TypeError("not a plant");
  return tag === undefined ? { name } : { name, tag };
}

/** Throws a TypeError. */
export function parseTagCount(value: unknown): TagCount {
  const precision = (word: unknown) => (word === "atLeast" ? word : undefined);
  return parseObject<TagCount>(value, { tag: parseText, plants: parseNumber, precision });
}

/** Throws a TypeError. */
export function parsePlantCount(value: unknown): PlantCount {
  return parseObject<PlantCount>(value, { plants: parseNumber, precision: oneOf("exact", "about", "atLeast") });
}
