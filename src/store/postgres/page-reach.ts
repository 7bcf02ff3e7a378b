import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../domain/plant.ts";

/**
 * How far pages reach among the ids, guessed from one before. On Citus every shard sends a whole page, unless it is told
 * where the page probably ends: then each sends its part of it. One PostgreSQL does as much either way.
 */
export type PageReach = Readonly<{
  /** An id that a page of so many plants probably ends before. Undefined if nothing is known, or no id is that high. */
  endOf(from: bigint, plants: number): bigint | undefined;
  /** A page that was read from there. */
  learn(from: bigint, page: ReadonlyArray<Readonly<{ id: bigint }>>): void;
}>;

type Guess = { ids: bigint; plants: bigint };

export function createPageReach(): PageReach {
  // A first page begins far below the ids that most stores have, and says nothing of the others.
  const first: Guess = { ids: 0n, plants: 0n };
  const others: Guess = { ids: 0n, plants: 0n };
  const guessAt = (from: bigint) => (from === PLANT_ID_MIN ? first : others);
  return {
    endOf(from, wanted) {
      const { ids, plants } = guessAt(from);
      if (plants === 0n) return undefined;
      // Half as many again: a page that is not full may have to be read once more.
      const end = from + (3n * ids * BigInt(wanted)) / (2n * plants);
      return end < PLANT_ID_MAX ? end : undefined;
    },
    learn(from, page) {
      const last = page.at(-1);
      if (last) Object.assign(guessAt(from), { ids: last.id - from + 1n, plants: BigInt(page.length) });
    },
  };
}
