import { PLANT_ID_MAX } from "../../plant.ts";

/**
 * How far pages reach among the ids, guessed from the page before. On Citus every shard sends a whole page, unless it is
 * told where the page probably ends: then each sends its part of it.
 */
export type PageReach = Readonly<{
  /** An id that a page of so many plants probably ends before. Undefined if nothing is known, or no id is that high. */
  endOf(from: bigint, plants: number): bigint | undefined;
  /** A page that was read from there. */
  learn(from: bigint, page: ReadonlyArray<Readonly<{ id: bigint }>>): void;
}>;

export function createPageReach(): PageReach {
  let ids = 0n;
  let plants = 0n;
  return {
    endOf(from, wanted) {
      if (plants === 0n) return undefined;
      // Half as many again: a page that is not full has to be read once more.
      const end = from + (3n * ids * BigInt(wanted)) / (2n * plants);
      return end < PLANT_ID_MAX ? end : undefined;
    },
    learn(from, page) {
      const last = page.at(-1);
      if (last) [ids, plants] = [last.id - from + 1n, BigInt(page.length)];
    },
  };
}
