/**
 * A whole number from -2^63 to 2^63-1 (OpenAPI format int64). Never a `number`, which silently loses digits past 2^53.
 */
export type PlantId = bigint & { readonly brand: "PlantId" };

/** A complete plant: it has no other fields, in the store either. `tag` is left out if there is none. */
export type NewPlant = Readonly<{ id: PlantId; name: string; tag?: string }>;

export const PLANT_ID_MIN = -(2n ** 63n) as PlantId;
export const PLANT_ID_MAX = (2n ** 63n - 1n) as PlantId;

/** Brands a whole number. Throws a RangeError outside int64: callers check input first. */
export function asPlantId(value: bigint): PlantId {
  if (value < PLANT_ID_MIN || value > PLANT_ID_MAX) throw new RangeError(`${value} is outside int64`);
  return value as PlantId;
}

/**
 * Parses an id in its canonical form, as in a path: no plus sign, no leading zeros, no `-0`. Undefined for any other
 * text.
 */
export function parsePlantId(text: string): PlantId | undefined {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value < PLANT_ID_MIN || value > PLANT_ID_MAX ? undefined : (value as PlantId);
}

/** Makes a plant from input that was validated against the contract. Drops unknown fields. */
export function toNewPlant({ id, name, tag }: Readonly<{ id: bigint; name: string; tag?: string | undefined }>): NewPlant {
  return tag === undefined ? { id: asPlantId(id), name } : { id: asPlantId(id), name, tag };
}

/** A plant whose id may come from anywhere. */
type AnyPlant = Omit<NewPlant, "id"> & Readonly<{ id: bigint }>;

/** A plant as JSON, with every digit of its id. */
export function toText({ id, name, tag }: AnyPlant): string {
  return `{"id":${id},"name":${JSON.stringify(name)}${tag === undefined ? "" : `,"tag":${JSON.stringify(tag)}`}}`;
}

/** Whether two plants, or their absence, are equal. */
export function isSame(left: AnyPlant | undefined, right: AnyPlant | undefined): boolean {
  return left?.id === right?.id && left?.name === right?.name && left?.tag === right?.tag;
}
