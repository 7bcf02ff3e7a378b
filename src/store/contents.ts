import type { NewPlant } from "../domain/plant.ts";
import { sizeOf } from "./page.ts";
import type { Token } from "./tokens.ts";

/** A plant with the time of its create, in microseconds since 1970. Plants from before that was kept have none. */
export type DatedPlant = NewPlant & Readonly<{ added?: bigint }>;

/** A token with the SHA-256 of its secret. */
export type StoredToken = Readonly<{ token: Token; hash: string }>;

/** A part of all that a store holds. */
export type ContentsPart = Readonly<{ tokens: readonly StoredToken[]; plants: readonly DatedPlant[] }>;

/** All that a store holds, tokens first, as it was at one moment. */
export type Contents = Readonly<{ read(): AsyncIterable<ContentsPart>; close(): void }>;

/** What was put into an empty store. `replaced`: the hash of a first token that no one had used, and that is gone. */
export type Filled = Readonly<{ replaced: string | undefined }>;

/** The id of a store's first token. It is fixed, so of several services that start at once on one database, one creates it. */
export const FIRST_TOKEN_ID = "first";

/** The hash of an unused store's first token, if it has one. Throws if the store has plants, other tokens, or a used first one. */
export function expectUnused(tokens: readonly StoredToken[], hasPlants: boolean): string | undefined {
  const isUnused = tokens.every(({ token }) => token.id === FIRST_TOKEN_ID && token.lastUsed === undefined);
  if (hasPlants || !isUnused) throw new Error("The store has plants or tokens already: restore into an empty one, such as a new folder.");
  return tokens[0]?.hash;
}

/** What is read, written and put at a time: so much is in memory. */
const PART_PLANTS = 1000;
const PART_BYTES = 500_000;

/** Plants in lists of a limited size. */
export function* inParts<Plant extends NewPlant>(plants: Iterable<Plant>): Generator<readonly Plant[], void, void> {
  let part: Plant[] = [];
  let bytes = 0;
  for (const plant of plants) {
    part.push(plant);
    bytes += sizeOf(plant);
    if (part.length < PART_PLANTS && bytes < PART_BYTES) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}
