import { PlantStoreError } from "../../src/domain/errors.ts";
import { describe, expect, it } from "bun:test";
import { asPlantId } from "../../src/domain/plant.ts";
import { GroupCommit } from "../../src/store/group-commit.ts";
import { createCommitMeter } from "../../src/store/commit-meter.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import type { Outcomes } from "../../src/store/batch.ts";
import { coalesceReads } from "../../src/store/coalesced-reads.ts";
import { rejectionOf } from "../support/rejection.ts";

function plant(id: number, name = "x") {
  return { id: asPlantId(BigInt(id)), name };
}

const LARGE = "x".repeat(60_000);

/** A group commit over a store whose commits end only when the test says so. */
function groupCommit(limits: { queueMax?: number; waitMs?: number; inFlightMax?: number; enough?: number } = {}) {
  const commits: { size: number; end: PromiseWithResolvers<Outcomes> }[] = [];
  const group = new GroupCommit({
    inFlightMax: 1,
    gatherTurns: 4,
    enough: Infinity,
    searchedMax: 20_000,
    queueMax: 100,
    waitMs: 60_000,
    ...limits,
    now: () => performance.now(),
    meter: createCommitMeter(createMetrics(), undefined),
    commit({ creates }) {
      const end = Promise.withResolvers<Outcomes>();
      commits.push({ size: creates.length, end });
      return end.promise;
    },
  });
  async function untilRunning(at: number): Promise<void> {
    while (commits.length <= at) await Bun.sleep(1);
  }
  async function endCommit(at: number): Promise<void> {
    await untilRunning(at);
    commits[at]!.end.resolve({ creates: Array.from({ length: commits[at]!.size }, () => "created" as const), swaps: [] });
  }
  return { group, commits, untilRunning, endCommit };
}

describe("the group commit", () => {
  it("answers no request before the commit of its plant has ended", async () => {
    const { group, untilRunning, endCommit } = groupCommit();
    const answered: number[] = [];
    const first = group.create(plant(1)).then(() => answered.push(1));
    await untilRunning(0);
    const second = group.create(plant(2)).then(() => answered.push(2));
    await Bun.sleep(20);
    expect(answered).toEqual([]);
    await endCommit(0);
    await first;
    await Bun.sleep(20);
    expect(answered).toEqual([1]);
    await endCommit(1);
    await second;
    expect(answered).toEqual([1, 2]);
  });

  it("tells all of a commit its outcome, even if the whileWriting of one throws", async () => {
    const { group, endCommit } = groupCommit();
    let called = 0;
    const creates = [1, 2, 3].map((id) =>
      group.create(plant(id), {
        whileWriting: () => {
          called += 1;
          if (id === 2) throw new Error("no answer can be made");
        },
      }),
    );
    await endCommit(0);
    expect(await Promise.all(creates)).toEqual(["created", "created", "created"]);
    expect(called).toBe(3);
  });

  it("runs as many commits at a time as allowed, and puts what arrives meanwhile into the next", async () => {
    const { group, commits, untilRunning, endCommit } = groupCommit({ inFlightMax: 2 });
    const creates = [group.create(plant(1))];
    await untilRunning(0);
    creates.push(group.create(plant(2)));
    await untilRunning(1);
    for (let id = 3; id <= 10; id += 1) creates.push(group.create(plant(id)));
    await Bun.sleep(20);
    expect(commits.map(({ size }) => size)).toEqual([1, 1]);
    await endCommit(1);
    await endCommit(2);
    await endCommit(0);
    await Promise.all(creates);
    expect(commits.map(({ size }) => size)).toEqual([1, 1, 8]);
  });

  it("refuses everything beyond queueMax at once as overloaded, and answers the rest", async () => {
    const { group, untilRunning, endCommit } = groupCommit({ queueMax: 10 });
    const running = group.create(plant(0));
    await untilRunning(0);
    const waiting = Array.from({ length: 9 }, (_, at) => group.create(plant(at + 1)));
    expect(group.isFull()).toBe(false);
    waiting.push(group.create(plant(10)));
    expect(group.isFull()).toBe(true);
    expect(await rejectionOf(group.create(plant(11)))).toMatchObject({ code: "overloaded" });
    await endCommit(0);
    await endCommit(1);
    expect(new Set(await Promise.all([running, ...waiting]))).toEqual(new Set(["created"]));
  });

  it("begins another commit for large plants once one has a million characters", async () => {
    const { group, commits, endCommit } = groupCommit();
    const creates = Array.from({ length: 40 }, (_, at) => group.create(plant(at, LARGE)));
    for (const at of [0, 1, 2]) await endCommit(at);
    await Promise.all(creates);
    expect(commits.map(({ size }) => size)).toEqual([17, 17, 6]);
  });

  it("begins another commit once one has names with 20,000 characters that are searched, whose words cost the most", async () => {
    const { group, commits, endCommit } = groupCommit();
    // Of a name, the first 1,000 are searched.
    const creates = Array.from({ length: 50 }, (_, at) => group.create(plant(at, "竹".repeat(at < 25 ? 1000 : 2000))));
    for (const at of [0, 1, 2]) await endCommit(at);
    await Promise.all(creates);
    expect(commits.map(({ size }) => size)).toEqual([20, 20, 10]);
  });

  it("counts a large plant as several waiting ones until its commit begins, and lets the largest wait alone", async () => {
    const { group, untilRunning, endCommit } = groupCommit({ queueMax: 10 });
    const running = group.create(plant(0));
    await untilRunning(0);
    const waiting = Array.from({ length: 5 }, (_, at) => group.create(plant(at + 1, LARGE)));
    expect(group.isFull()).toBe(true);
    expect(await rejectionOf(group.create(plant(11)))).toMatchObject({ code: "overloaded" });
    await endCommit(0);
    await untilRunning(1);
    const largest = group.create(plant(12, LARGE.repeat(100)));
    expect(group.isFull()).toBe(true);
    await endCommit(1);
    await endCommit(2);
    expect(new Set(await Promise.all([running, ...waiting, largest]))).toEqual(new Set(["created"]));
  });

  it("ends all waits when a commit hangs, and frees their places: unknown for plants in it, overloaded for plants behind it", async () => {
    const { group, untilRunning } = groupCommit({ waitMs: 100, queueMax: 10 });
    const running = rejectionOf(group.create(plant(0)));
    await untilRunning(0);
    const waiting = Array.from({ length: 5 }, (_, at) => rejectionOf(group.create(plant(at + 1, LARGE))));
    expect(group.isFull()).toBe(true);
    expect(await running).toMatchObject({ code: "store_unavailable" });
    for (const reason of await Promise.all(waiting)) expect(reason).toMatchObject({ code: "overloaded" });
    expect(group.isFull()).toBe(false);
  });

  it("gives each plant of a failed commit the reason, and goes on with the next commit", async () => {
    const { group, commits, untilRunning, endCommit } = groupCommit();
    const failing = [rejectionOf(group.create(plant(1))), rejectionOf(group.create(plant(2)))];
    await untilRunning(0);
    const reason = new Error("disk on fire");
    commits[0]!.end.reject(reason);
    expect(await Promise.all(failing)).toEqual([reason, reason]);
    const next = group.create(plant(3));
    await endCommit(1);
    expect(await next).toBe("created");
  });

  it.each(["draining", "store_unavailable"] as const)(
    "refuses what waits with %s when it closes, and ends after the running commits",
    async (code) => {
      const { group, untilRunning, endCommit } = groupCommit({ inFlightMax: 2 });
      const running: Promise<unknown>[] = [];
      for (const at of [0, 1]) {
        running.push(group.create(plant(at)));
        await untilRunning(at);
      }
      const waiting = rejectionOf(group.create(plant(2)));
      let isClosed = false;
      const closing = group.close(new PlantStoreError(code)).then(() => (isClosed = true));
      expect(await waiting).toMatchObject({ code });
      expect(await rejectionOf(group.create(plant(3)))).toMatchObject({ code });
      for (const at of [0, 1]) {
        await Bun.sleep(20);
        expect(isClosed).toBe(false);
        await endCommit(at);
      }
      expect(await Promise.all(running)).toEqual(["created", "created"]);
      await closing;
    },
  );
});

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
