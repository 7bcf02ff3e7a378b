import { PlantStoreError } from "../errors.ts";
import { createFairShares } from "../fair-shares.ts";
import type { Owner } from "../fair-shares.ts";
import type { ListQuery, PlantStore } from "./plants.ts";

/** Lets work begin in turns: an owner who asks for much waits for itself, and hardly anybody for it. */
export type FairQueue = Readonly<{
  /**
   * Does the work when its owner has a turn, and resolves or rejects as it does. Rejects with `overloaded` when too much of this owner
   * waits, or waits too long; patient work waits as long as it must. Of that the caller sees to it that there is little.
   */
  run<Result>(work: () => Promise<Result>, asker: Asker): Promise<Result>;
}>;

type Asker = Readonly<{ owner: Owner; isPatient: boolean }>;

type FairQueueOptions = Readonly<{
  /** How much is done at a time, and how much of one owner. Where that is less, another always finds a slot or waits for one of few. */
  slots: number;
  ownerSlots: number;
  /** How much of one owner may wait; of all together, twice as much. */
  waitingMax: number;
  /** How long it may wait, in milliseconds. */
  waitMs: number;
}>;

/** Somebody who waits: called when it may begin. */
type Waiter = () => void;

export function createFairQueue({ slots, ownerSlots, waitingMax, waitMs }: FairQueueOptions): FairQueue {
  const running = new Map<Owner, number>();
  // The owner whose turn is next comes first.
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
      // To the end of the line, as long as it has more to do.
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

  /** Resolves when it has begun. */
  async function wait({ owner, isPatient }: Asker): Promise<void> {
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
    async run(work, asker) {
      if (mayBegin(asker.owner)) begin(asker.owner);
      else await wait(asker);
      try {
        return await work();
      } finally {
        end(asker.owner);
      }
    },
  };
}

/** The same store for one who asks, in turns where all who ask share a few workers. */
export function queued(
  { list, import: importPlants, takesTurns }: PlantStore,
  turns: FairQueue,
  asker: Asker,
): Pick<PlantStore, "list" | "import"> {
  return {
    list: (query) => (takesTurns(kindOf(query)) ? turns.run(() => list(query), asker) : list(query)),
    import: (plants, options) =>
      takesTurns("import") ? turns.run(() => importPlants(plants, options), asker) : importPlants(plants, options),
  };
}

function kindOf({ words }: ListQuery): "search" | "list" {
  return words.length > 0 ? "search" : "list";
}
