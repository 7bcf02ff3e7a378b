import { describe, expect, it } from "bun:test";
import { markOf } from "../../src/store/postgres/change-mark.ts";
import { lastOld } from "../../src/store/postgres/change-sweep.ts";
import type { AgedRow } from "../../src/store/postgres/change-sweep.ts";

const EPOCH = 2n ** 32n;

/** Transactions that hold the lock on the log, by the 32 bits that they show. */
const MARKS: ReadonlyArray<readonly [what: string, upper: bigint, holding: ReadonlyArray<bigint | undefined>, mark: bigint | undefined]> = [
  ["the upper bound while no one writes", 1000n, [], 1000n],
  ["the oldest transaction that writes", 1000n, [990n, 980n, 995n], 980n],
  ["the mark of before while one shows no number", 1000n, [990n, undefined], 900n],
  ["the oldest transaction that writes if that is below the mark of before, as on another server", 1000n, [990n, undefined, 850n], 850n],
  ["the upper bound where only younger ones write", 1000n, [1000n, 1007n], 1000n],
  ["all 64 bits of a transaction of this epoch", 3n * EPOCH + 1000n, [990n], 3n * EPOCH + 990n],
  ["all 64 bits of a transaction of the epoch before", 3n * EPOCH + 10n, [EPOCH - 5n], 3n * EPOCH - 5n],
  ["the upper bound where one of the next epoch writes", 3n * EPOCH - 5n, [4n], 3n * EPOCH - 5n],
  ["no mark while one shows no number on a server whose numbers have gone back", 800n, [undefined], undefined],
];

describe("the mark below which the log is complete", () => {
  for (const [what, upper, holding, mark] of MARKS)
    it(`is ${what}`, () => {
      const writing = holding.map((xid) => ({ pid: 1n, xid }));
      expect(markOf({ upper, writing }, 900n)).toBe(mark);
    });

  it("is unknown at first while one shows no number", () => {
    expect(markOf({ upper: 1000n, writing: [{ pid: 1n, xid: undefined }] }, undefined)).toBeUndefined();
  });
});

const AGES: ReadonlyArray<readonly [what: string, ages: ReadonlyArray<AgedRow[2]>, last: bigint | undefined]> = [
  ["nothing of what is kept", ["kept", "kept"], undefined],
  ["all that is old", ["old", "old"], 1n],
  ["what is old, up to the first that is kept", ["old", "old", "kept", "old"], 1n],
  ["what a clock that was ahead has dated, with the old ones behind it", ["old", "ahead", "old", "kept"], 2n],
  ["nothing that a clock which was ahead has dated, before what is kept", ["ahead", "kept"], undefined],
];

describe("the log of changes loses", () => {
  for (const [what, ages, last] of AGES)
    it(what, () => {
      const rows = ages.map((age, at): AgedRow => [BigInt(at), 0n, age]);
      expect(lastOld(rows)?.[0]).toBe(last);
    });
});
