import { expect, it } from "bun:test";
import { coalesceReads } from "../../src/store/coalesced-reads.ts";
import { rejectionOf } from "../support/rejection.ts";

it("the keys of one turn are read together, and later ones once a running read has ended, well or not", async () => {
  const reads: { keys: readonly number[]; end: PromiseWithResolvers<string[]> }[] = [];
  const read = coalesceReads<number, string>({
    inFlightMax: 1,
    readAll(keys) {
      const end = Promise.withResolvers<string[]>();
      reads.push({ keys: [...keys], end });
      return end.promise;
    },
  });
  const keysRead = async () => {
    await Bun.sleep(1);
    return reads.map(({ keys }) => keys);
  };
  const first = [read(1), read(2)];
  expect(await keysRead()).toEqual([[1, 2]]);
  const second = rejectionOf(read(3));
  expect(await keysRead()).toEqual([[1, 2]]);
  reads[0]!.end.resolve(["one", "two"]);
  expect(await Promise.all(first)).toEqual(["one", "two"]);
  expect(await keysRead()).toEqual([[1, 2], [3]]);
  const third = read(4);
  const reason = new Error("the store fails");
  reads[1]!.end.reject(reason);
  expect(await second).toBe(reason);
  expect(await keysRead()).toEqual([[1, 2], [3], [4]]);
  reads[2]!.end.resolve(["four"]);
  expect(await third).toBe("four");
});
