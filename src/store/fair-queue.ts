import { PlantStoreError } from "../domain/errors.ts";
import { createFairShares } from "../runtime/fair-shares.ts";
import type { Owner } from "../runtime/fair-shares.ts";

/** Starts work in turns among owners: an owner with much work waits for itself, and hardly delays others. */
export type FairQueue = Readonly<{
  /**
   * Runs the work when its owner has a turn, and settles as the work does. Rejects with `overloaded` when too much work
   * of this owner waits, or waits too long. Patient work waits as long as it must: the caller must see to it that there
   * is little of it.
   */
  run<Result>(work: () => Promise<Result>, caller: Caller): Promise<Result>;
}>;

type Caller = Readonly<{ owner: Owner; isPatient: boolean }>;

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

export function createFairQueue({ slots, ownerSlots, waitingMax, waitMs }: FairQueueOptions): FairQueue {
  const running = new Map<Owner, number>();
  // In order of turns: the next owner comes first.
  const waiting = new Map<Owner, Set<Waiter>>();
  const places = createFairShares(2 * waitingMax);
  let free = slots;

  function mayBegin(owner: Owner): boolean {
    return free > 0 && (running.get(owner) ?? 0) < ownerSlots;
  }

  function begin(owner: Owner): void {
    free -= 1;
    running.set(owner, (running.get(owner) ?? 0) + 1);
  }

  function end(owner: Owner): void {
    free += 1;
    const rest = running.get(owner)! - 1;
    if (rest === 0) running.delete(owner);
    else running.set(owner, rest);
    for (const [next, waiters] of waiting) {
      if (free === 0) return;
      if (!mayBegin(next)) continue;
      const [first] = waiters;
      leave(next, first!);
      // An owner with more work goes to the end of the line.
      if (waiting.delete(next) && waiters.size > 0) waiting.set(next, waiters);
      begin(next);
      first!();
    }
  }

  function leave(owner: Owner, waiter: Waiter): void {
    const waiters = waiting.get(owner);
    waiters?.delete(waiter);
    if (waiters?.size === 0) waiting.delete(owner);
  }

  /** Resolves when the work may begin. */
  async function wait({ owner, isPatient }: Caller): Promise<void> {
    const release = isPatient ? () => {} : places.take(owner);
    if (!release) throw new PlantStoreError("overloaded");
    const turn = Promise.withResolvers<void>();
    const waiters = waiting.get(owner) ?? new Set();
    waiting.set(owner, waiters.add(turn.resolve));
    const timer = isPatient ? undefined : setTimeout(giveUp, waitMs);
    function giveUp(): void {
      leave(owner, turn.resolve);
      turn.reject(new PlantStoreError("overloaded"));
    }
    try {
      await turn.promise;
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  return {
    async run(work, caller) {
      if (mayBegin(caller.owner)) begin(caller.owner);
      else await wait(caller);
      try {
        return await work();
      } finally {
        end(caller.owner);
      }
    },
  };
}
