/** Who has a share: the id of a token, or an address where none is needed. */
export type Owner = string;

/** Parts of something that is limited and that several owners want: places in a queue, bytes in memory, files at a time. */
export type FairShares = Readonly<{
  /**
   * Takes an amount, 1 without one, for an owner; undefined when that would be more than a share. What is returned gives it back; to call
   * it again does nothing.
   */
  take(owner: Owner, amount?: number): (() => void) | undefined;
  /** Whether `take` would give it now. */
  hasRoom(owner: Owner, amount?: number): boolean;
}>;

/**
 * Shares out `max` among owners of whom nobody knows before what they will want: an owner may take more as long as what it then holds is no
 * more than what was free. (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998, with a
 * threshold of once the free memory.) So an owner who wants all and is alone gets half; n of them get one part in n + 1 each, as soon as the
 * first have given back what they took before the others came; and whoever holds nothing may take all that is free, even at one time.
 */
export function createFairShares(max: number): FairShares {
  const held = new Map<Owner, number>();
  let free = max;

  function give(owner: Owner, amount: number): void {
    const rest = held.get(owner)! - amount;
    // Memory for those only who hold something.
    if (rest === 0) held.delete(owner);
    else held.set(owner, rest);
    free += amount;
  }

  function hasRoom(owner: Owner, amount = 1): boolean {
    return (held.get(owner) ?? 0) + amount <= free;
  }

  return {
    hasRoom,
    take(owner, amount = 1) {
      if (!hasRoom(owner, amount)) return undefined;
      held.set(owner, (held.get(owner) ?? 0) + amount);
      free -= amount;
      let isHeld = true;
      return () => {
        if (isHeld) give(owner, amount);
        isHeld = false;
      };
    },
  };
}
