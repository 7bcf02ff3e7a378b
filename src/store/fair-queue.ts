import { PlantStoreError } from "../domain/errors.ts";
import { createFairShares } from "../runtime/fair-shares.ts";
import type { FairShares, Owner } from "../runtime/fair-shares.ts";

type Caller = Readonly<{ owner: Owner; noTimeout: boolean }>;

type FairQueueOptions = Readonly<{
  /**
   * How many pieces of work run at a time, in all and of one owner. With `ownerSlots` below `slots`, other owners find
   * a free slot or wait for one of few.
   */
  slots: number;
  ownerSlots: number;
  /** How many pieces of work of one owner may wait; twice as many in all. */
  waitingMax: number;
  /** How long work may wait, in milliseconds. */
  waitMs: number;
}>;

/** Starts work that waits. */
type Waiter = () => void;

/** Starts work in turns among owners: an owner with much work waits for itself, and rarely delays others. */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #running = new Map<Owner, number>();
  // In order of turns: the next owner comes first.
  readonly #waiting = new Map<Owner, Set<Waiter>>();
  readonly #places: FairShares;
  #free: number;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#places = createFairShares(2 * options.waitingMax);
    this.#free = options.slots;
  }

  /**
   * Runs the work when its owner has a turn, and settles as the work does. Rejects with `overloaded` when too much work
   * of this owner waits, or waits too long. Patient work waits as long as it must: the caller must see to it that there
   * is little of it.
   */
  readonly run = async <Result>(work: () => Promise<Result>, caller: Caller): Promise<Result> => {
    if (this.#mayBegin(caller.owner)) this.#begin(caller.owner);
    else await this.#wait(caller);
    try {
      return await work();
    } finally {
      this.#end(caller.owner);
    }
  };

  #mayBegin(owner: Owner): boolean {
    return this.#free > 0 && (this.#running.get(owner) ?? 0) < this.#options.ownerSlots;
  }

  #begin(owner: Owner): void {
    this.#free -= 1;
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
  }

  #end(owner: Owner): void {
    this.#free += 1;
    const rest = this.#running.get(owner)! - 1;
    if (rest === 0) this.#running.delete(owner);
    else this.#running.set(owner, rest);
    for (const [next, waiters] of this.#waiting) {
      if (this.#free === 0) return;
      if (!this.#mayBegin(next)) continue;
      const [first] = waiters;
      this.#leave(next, first!);
      // An owner with more work goes to the end of the line.
      if (this.#waiting.delete(next) && waiters.size > 0) this.#waiting.set(next, waiters);
      this.#begin(next);
      first!();
    }
  }

  #leave(owner: Owner, waiter: Waiter): void {
    const waiters = this.#waiting.get(owner);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiting.delete(owner);
  }

  /** Resolves when the work may begin. */
  async #wait({ owner, noTimeout }: Caller): Promise<void> {
    const release = noTimeout ? () => {} : this.#places.take(owner);
    if (!release) throw new PlantStoreError("overloaded");
    const turn = Promise.withResolvers<void>();
    const waiters = this.#waiting.get(owner) ?? new Set();
    this.#waiting.set(owner, waiters.add(turn.resolve));
    const giveUp = () => {
      this.#leave(owner, turn.resolve);
      turn.reject(new PlantStoreError("overloaded"));
    };
    const timer = noTimeout ? undefined : setTimeout(giveUp, this.#options.waitMs);
    try {
      await turn.promise;
    } finally {
      clearTimeout(timer);
      release();
    }
  }
}
