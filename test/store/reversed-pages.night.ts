import { afterAll, beforeAll, expect, it } from "bun:test";
import { join } from "node:path";
import { nameKey } from "../../src/domain/name-order.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { WordIndex } from "../../src/store/sqlite/search/word-index.ts";
import type { WalkQuery } from "../../src/store/sqlite/search/word-index.ts";
import { threadMs } from "../support/processor.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Plants with one name, and four times as many with another. */
const SHARED = 20_000;

/** Plants with names of their own, behind the others, that are deleted. */
const DELETED = 100_000;

const STEP = 4000;
const TRIES = 30;

/** Machines are noisy, so the best of some tries counts. Measured: 1 and 5; with a bug 4 and 26. */
const SHARED_TIMES_MAX = 2;
const DELETED_TIMES_MAX = 12;

const index = new WordIndex(join(temporaryFolder(), "index"));
afterAll(() => index.close());

function put(first: number, count: number, nameOf: (at: number) => string): void {
  for (let from = 0; from < count; from += STEP)
    index.transaction(() => {
      for (let at = from; at < from + STEP; at += 1) index.put({ id: BigInt(first + at), name: nameOf(at), tag: null, added: null });
    });
}

beforeAll(() => {
  put(0, SHARED, () => "few");
  put(1_000_000, 4 * SHARED, () => "many");
  for (const [id, name] of [
    [500_000, "e"],
    [1_500_000, "l"],
  ] as const)
    put(id, STEP, (at) => `${name} ${at} before it`);
  put(2_000_000, DELETED, (at) => `z ${(at * 7919) % DELETED} gone`);
  for (let from = 0; from < DELETED; from += STEP)
    index.transaction(() => {
      for (let at = from; at < from + STEP; at += 1) index.remove(BigInt(2_000_000 + at));
    });
});

type Page = Pick<WalkQuery, "order" | "after">;

/** How many times the time of the processor that one page of 100 takes another one does. */
function ratioOf(one: Page, other: Page): number {
  const best: [number, number] = [Infinity, Infinity];
  for (let tries = 0; tries < TRIES; tries += 1)
    for (const [at, page] of [one, other].entries()) {
      const began = threadMs();
      index.walk({ ...page, tag: undefined, limit: 101 });
      best[at] = Math.min(best[at]!, threadMs() - began);
    }
  return best[0] / best[1];
}

it("a page from Z to A takes no longer at the end of four times as many plants with one name", () => {
  // Half of the page has that name.
  const behind = (name: string, first: number) => ({ key: nameKey(name), id: asPlantId(BigInt(first + 50)) });
  const few: Page = { order: "-name", after: behind("few", 0) };
  const many: Page = { order: "-name", after: behind("many", 1_000_000) };
  expect(ratioOf(many, few)).toBeLessThan(SHARED_TIMES_MAX);
});

it("a page from Z to A passes names that were deleted about as fast as one from A to Z", () => {
  const up: Page = { order: "name", after: { key: nameKey("many"), id: asPlantId(2n ** 63n - 1n) } };
  const down: Page = { order: "-name", after: undefined };
  expect(ratioOf(down, up)).toBeLessThan(DELETED_TIMES_MAX);
});
