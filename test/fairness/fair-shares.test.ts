import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { createFairShares } from "../../src/runtime/fair-shares.ts";
import type { FairShares } from "../../src/runtime/fair-shares.ts";

/** Takes until it is refused. */
function takeAll(shares: FairShares, owner: string): Array<() => void> {
  const taken: Array<() => void> = [];
  for (let release = shares.take(owner); release; release = shares.take(owner)) taken.push(release);
  return taken;
}

const owner = fc.constantFrom("a", "b", "c", "d", "e");
const step = fc.oneof(
  fc.record({ kind: fc.constant("take" as const), owner, amount: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant("give" as const), at: fc.nat() }),
);

describe("shares", () => {
  it("never exceed the total, count each release once, and give an owner what the threshold allows", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), fc.array(step, { maxLength: 200 }), (max, steps) => {
        const shares = createFairShares(max);
        const taken: Array<{ owner: string; amount: number; release: () => void }> = [];
        const sum = (of?: string) => taken.reduce((all, { owner: by, amount }) => all + (of === undefined || by === of ? amount : 0), 0);
        for (const one of steps) {
          if (one.kind === "give") {
            const [given] = taken.length > 0 ? taken.splice(one.at % taken.length, 1) : [];
            given?.release();
            given?.release();
            continue;
          }
          const isGranted = sum(one.owner) + one.amount <= max - sum();
          expect(shares.hasRoom(one.owner, one.amount)).toBe(isGranted);
          const release = shares.take(one.owner, one.amount);
          expect(release !== undefined).toBe(isGranted);
          if (release) taken.push({ ...one, release });
          expect(sum()).toBeLessThanOrEqual(max);
        }
        for (const { release } of taken) release();
        expect(shares.hasRoom("anyone", max)).toBe(true);
      }),
    );
  });

  it("give a lone owner half, and leave room for the next one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 5000 }), (max) => {
        const shares = createFairShares(max);
        expect(takeAll(shares, "greedy")).toHaveLength(Math.ceil(max / 2));
        expect(shares.take("newcomer")).toBeDefined();
      }),
    );
  });

  it("become equal among owners that take whatever they can, no matter which came first", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 20, max: 500 }), (owners, each) => {
        const max = each * (owners + 1);
        const shares = createFairShares(max);
        const taken = Array.from({ length: owners }, (_, at) => takeAll(shares, `${at}`));
        // All release at the same rate, and take again as soon as they may.
        for (let round = 0; round < max; round += 1) {
          for (const one of taken) one.shift()?.();
          for (const [at, one] of taken.entries()) one.push(...takeAll(shares, `${at}`));
        }
        for (const one of taken) expect(Math.abs(one.length - each)).toBeLessThanOrEqual(owners);
        expect(shares.take("newcomer")).toBeDefined();
      }),
      { numRuns: 30 },
    );
  });

  it("give an owner that holds nothing one amount larger than any share, while it is free", () => {
    const shares = createFairShares(100);
    const release = shares.take("large", 90);
    expect(release).toBeDefined();
    expect(shares.take("large")).toBeUndefined();
    expect(shares.take("newcomer", 10)).toBeDefined();
    expect(shares.take("another")).toBeUndefined();
    release?.();
    expect(shares.take("another", 45)).toBeDefined();
  });
});
