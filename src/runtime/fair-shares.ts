/** Who has a share: the id of a token, or an address where no token is needed. */
export type Owner = string;

/** Shares of a limited resource that several owners want: places in a queue, bytes in memory, files at a time. */
export type FairShares = ReturnType<typeof createFairShares>;

/**
 * Shares out `max` among owners, whose demand is unknown: an owner may take more as long as what it then holds is no
 * more than what was free. (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
 * 1998, with a threshold of once the free memory.) An owner that is alone and wants everything gets half. With n of
 * them, each gets one part in n + 1, as soon as the first have given back what they took before the others came. An
 * owner that holds nothing may take all that is free, even at once.
 */
export function createFairShares(max: number) {
  const held = new Map<Owner, number>();
  let free = max;

  /** Gives back what `tryTake` took, never more than the owner holds. */
  function give(owner: Owner, amount: number): void {
    const rest = held.get(owner)! - amount;
    // Keep only owners that hold something.
    if (rest === 0) held.delete(owner);
    else held.set(owner, rest);
    free += amount;
  }

  /** Whether `take` would succeed now. */
  function hasRoom(owner: Owner, amount = 1): boolean {
    return (held.get(owner) ?? 0) + amount <= free;
  }

  /** For callers that keep account of what they took themselves. False when it would exceed the share. */
  function tryTake(owner: Owner, amount: number): boolean {
    if (!hasRoom(owner, amount)) return false;
    held.set(owner, (held.get(owner) ?? 0) + amount);
    free -= amount;
    return true;
  }

  return {
    hasRoom,
    tryTake,
    give,
    /** How much is taken now. */
    taken: () => max - free,
    /**
     * Takes an amount for an owner; undefined when that would exceed its share. Call what it returns to give the amount
     * back; a second call does nothing.
     */
    take(owner: Owner, amount = 1): (() => void) | undefined {
      if (!tryTake(owner, amount)) return undefined;
      let isHeld = true;
      return () => {
        if (isHeld) give(owner, amount);
        isHeld = false;
      };
    },
  };
}
