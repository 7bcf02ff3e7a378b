import { PlantStoreError } from "../domain/errors.ts";
import { createFairShares } from "../runtime/fair-shares.ts";
import type { Owner } from "../runtime/fair-shares.ts";
import { Batch } from "./batch.ts";
import { COMMIT_CHARACTERS, placesOf } from "./commit-size.ts";
import type { Size } from "./commit-size.ts";

/** What bounds the line. */
export type LineLimits = Readonly<{
  /** This many changes do not wait for more, if another commit may run. */
  enough: number;
  /** A commit takes no more changes once its names have this many characters that are searched. */
  searchedMax: number;
  /** How many changes of one owner may wait for a commit; twice as many in all. A change with much text counts as several. */
  queueMax: number;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}>;

export type WaitingLine = ReturnType<typeof createWaitingLine>;

/** The changes that wait for a commit to begin, in batches of one commit each. */
export function createWaitingLine({ enough, searchedMax, queueMax, now }: LineLimits) {
  const places = createFairShares(2 * queueMax);
  // Only the last batch takes more changes.
  const batches: Batch[] = [];

  function isLarge({ characters, searched }: Batch): boolean {
    return characters >= COMMIT_CHARACTERS || searched >= searchedMax;
  }

  function open(): Batch {
    const batch = new Batch(now());
    batches.push(batch);
    return batch;
  }

  return {
    /** The last batch, with places for a change of this size, which the caller adds. Throws `overloaded` without room. */
    join(owner: Owner, { characters, searched }: Size): Batch {
      // A change larger than the whole queue may wait alone.
      const count = Math.min(placesOf(characters), queueMax);
      if (!places.tryTake(owner, count)) throw new PlantStoreError("overloaded");
      const last = batches.at(-1);
      const batch = last && !isLarge(last) ? last : open();
      batch.places.set(owner, (batch.places.get(owner) ?? 0) + count);
      batch.characters += characters;
      batch.searched += searched;
      return batch;
    },
    /** The batch that has waited longest. */
    first: (): Batch | undefined => batches[0],
    /** Removes that batch: its places are free then, as changes in a running commit keep no one out. */
    shift(): Batch | undefined {
      const batch = batches.shift();
      if (!batch) return undefined;
      for (const [owner, count] of batch.places) places.give(owner, count);
      for (const call of batch.onLeave) call();
      return batch;
    },
    /** Whether the batch need not wait for more changes. */
    isEnough: (batch: Batch) => batch.count() >= enough || isLarge(batch),
    isFull: (owner: Owner) => !places.hasRoom(owner),
    /** How many changes wait. */
    changes: () => batches.reduce((sum, batch) => sum + batch.count(), 0),
  };
}
