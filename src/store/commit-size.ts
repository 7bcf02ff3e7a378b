import type { NewPlant } from "../domain/plant.ts";
import { SEARCHED_LENGTH_MAX } from "../domain/terms.ts";

/** What a change adds to a commit: its characters, and how many of them are searched. */
export type Size = Readonly<{ characters: number; searched: number }>;

/**
 * A commit takes no more changes once it has this many characters: handing them over blocks the event loop.
 *
 * @limit writes: characters of a commit, and the write that exceeds them
 */
export const COMMIT_CHARACTERS = 1_000_000;

/**
 * The same for the searched characters of a commit on PostgreSQL, which indexes words in it. Words cost a hundred times
 * as much as text that is only stored, up to 5 ms for a name (measured). So a change waits for twenty of the worst names
 * at most, and a thousand usual ones still share a commit.
 *
 * @limit writes: searched characters of a commit on PostgreSQL
 */
export const POSTGRES_COMMIT_SEARCHED = 20_000;

/** When a commit of an import begins. Searches may wait until its searched characters are indexed, changes until it is stored. */
export const IMPORT_COMMIT = {
  /** @limit files: plants in a commit of an import */
  plants: 2000,
  characters: 1_000_000,
  /** @limit files: searched characters in a commit of an import */
  searched: 100_000,
};

/**
 * A change takes one place in the queue, and one more for each of these many characters. This bounds the memory of the
 * queue.
 *
 * @limit writes: characters after which a write takes one more place in the queue
 */
const PLACE_CHARACTERS = 32_768;

/** How many places in the queue a change takes. */
export function placesOf(characters: number): number {
  return 1 + Math.floor(characters / PLACE_CHARACTERS);
}

/** How much text it has: handing it over takes time and memory. */
export function charactersOf(plant: NewPlant | undefined): number {
  return plant === undefined ? 0 : plant.name.length + (plant.tag?.length ?? 0);
}

/** How much of its name is searched. */
export function searchedOf(plant: NewPlant | undefined): number {
  return plant === undefined ? 0 : Math.min(plant.name.length, SEARCHED_LENGTH_MAX);
}
