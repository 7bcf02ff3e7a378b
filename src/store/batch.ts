import { PlantStoreError } from "../errors.ts";
import type { NewPlant } from "../plant.ts";
import { SEARCHED_LENGTH_MAX } from "../tokenizer.ts";
import type { Active } from "../tracing/request-trace.ts";
import type { Swap } from "./plants.ts";
import type { TokenChange, TokenOutcome } from "./tokens.ts";

/**
 * The outcome of a create: stored now, already stored as this very plant, or refused because the id names another one.
 */
export type Outcome = "created" | "same" | "in_use";

/**
 * Changes that are committed together. No response has been sent yet, so the kinds may be applied one after the other.
 */
export type Changes = Readonly<{ creates: readonly NewPlant[]; swaps: readonly Swap[]; tokens: readonly TokenChange[] }>;

/**
 * One outcome for each change, in the same order; for a swap, whether it was made. Kinds that an engine commits
 * elsewhere are left out.
 */
export type Outcomes = Readonly<{ creates?: readonly Outcome[]; swaps?: readonly boolean[]; tokens?: readonly TokenOutcome[] }>;

/** Who waits for the outcome of a change. */
type Waiter = Readonly<{
  /** Called when the commit has begun. */
  begin: (() => void) | undefined;
  /** What of a trace it is, if that is recorded. */
  traced: Active | undefined;
  end: (outcomes: Outcomes) => void;
  reject: (reason: unknown) => void;
}>;

/** Changes that one commit makes, and the state of their wait. */
export type Batch = Readonly<{
  /** When the first change arrived. */
  since: number;
  /** Each frees the places of one change, when the wait ends: changes in a running commit keep nobody out. */
  releases: Array<() => void>;
  creates: NewPlant[];
  swaps: Swap[];
  tokens: TokenChange[];
  waiters: Waiter[];
}> & { characters: number; searched: number };

/**
 * A change takes one place in the queue, and one more for each of these many characters. This bounds the memory of the
 * queue.
 */
const PLACE_CHARACTERS = 32_768;

/** `since`: when the first change arrived. */
export function openBatch(since: number): Batch {
  return { since, releases: [], characters: 0, searched: 0, creates: [], swaps: [], tokens: [], waiters: [] };
}

/** How many places in the queue a change takes. */
export function placesOf(characters: number): number {
  return 1 + Math.floor(characters / PLACE_CHARACTERS);
}

/** Nobody waits for the places of these changes any more. */
export function freePlaces({ releases }: Batch): void {
  for (const release of releases) release();
}

/** The commit has begun. What one waiter does then must not keep the others from their outcomes. */
export function begin({ begin: onBegin, reject }: Waiter): void {
  try {
    onBegin?.();
  } catch (reason) {
    reject(reason);
  }
}

export function rejectAll({ waiters }: Batch, code: "overloaded" | "draining" | "store_unavailable"): void {
  for (const { reject } of waiters) reject(new PlantStoreError(code));
}

/** How much text it has: handing it over takes time and memory. */
export function charactersOf(plant: NewPlant | undefined): number {
  return plant === undefined ? 0 : plant.name.length + (plant.tag?.length ?? 0);
}

/** How much of its name is searched. */
export function searchedOf(plant: NewPlant | undefined): number {
  return plant === undefined ? 0 : Math.min(plant.name.length, SEARCHED_LENGTH_MAX);
}

/** How many changes they are. */
export function countOf({ creates, swaps, tokens }: Changes): number {
  return creates.length + swaps.length + tokens.length;
}
