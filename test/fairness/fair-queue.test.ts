import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { PAST_TURNS, TURNS } from "../../src/app/concurrency.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { FairQueue } from "../../src/store/fair-queue.ts";
import type { History, PastPage } from "../../src/store/history.ts";
import type { PlantStore } from "../../src/store/plants.ts";
import { queueHistory } from "../../src/store/queued-history.ts";
import { queuePlants } from "../../src/store/queued-plants.ts";
import { rejectionOf } from "../support/rejection.ts";

const LIMITS = { slots: 3, ownerSlots: 2, waitingMax: 100, waitMs: 60_000 };

/** Turns whose work ends only when the test says so: the first one running, or the first one of an owner. */
function openTurns(limits: Partial<typeof LIMITS> = {}) {
  const { run } = new FairQueue({ ...LIMITS, ...limits });
  const running: Array<{ owner: string; end: () => void }> = [];
  const begun: string[] = [];
  function ask(owner: string, noTimeout = false): Promise<void> {
    const turn = run(
      () => {
        begun.push(owner);
        return new Promise<void>((resolve) => running.push({ owner, end: resolve }));
      },
      { owner, noTimeout },
    );
    // A test may leave some turns waiting. They are refused after its end.
    turn.catch(() => {});
    return turn;
  }
  async function end(at = 0): Promise<void> {
    running.splice(at, 1)[0]?.end();
    await Bun.sleep(0);
  }
  return { ask, begun, running, end };
}

describe("turns", () => {
  it("the past of plants takes two turns at a time, one of a token, so that searches of others never wait for them", async () => {
    const running: Array<{ owner: string; end: () => void }> = [];
    const queue = new FairQueue(TURNS);
    const pastQueue = new FairQueue(PAST_TURNS);
    const ask = (owner: string) => {
      const ofPlant = () => new Promise<PastPage>((end) => running.push({ owner, end: () => end({ changes: [], next: undefined }) }));
      const history = queueHistory({ ofPlant } as unknown as History, { queue, pastQueue, noTimeout: false });
      return history(owner).ofPlant(asPlantId(1n), { before: undefined, limit: 1 });
    };
    const pages = ["anna", "anna", "anna", "bert", "bert", "bert", "carl"].map(ask);
    await Bun.sleep(0);
    expect(running.map(({ owner }) => owner)).toEqual(["anna", "bert"]);
    const searches = ["carl", "dora", "emil"].map((owner) => queue.run(async () => owner, { owner, noTimeout: false }));
    expect(await Promise.all(searches)).toEqual(["carl", "dora", "emil"]);
    expect(running.length).toBe(2);
    for (let at = 0; at < pages.length; at += 1) {
      running[at]!.end();
      await Bun.sleep(0);
    }
    await Promise.all(pages);
    expect(running.slice(2).map(({ owner }) => owner)).toEqual(["anna", "bert", "carl", "anna", "bert"]);
  });

  it("are for lists that only the search index can make: of words, of a tag, and of plants without one", async () => {
    const plants = {
      list: async () => ({ plants: [], isLast: true }),
      takesTurns: (kind: string) => kind === "search",
    } as unknown as PlantStore;
    const turns: unknown[] = [];
    for (const { words, tag } of [
      { words: [{ anyOf: ["aloe"] }], tag: undefined },
      { words: [], tag: null },
      { words: [], tag: "x" },
      { words: [], tag: undefined },
    ]) {
      const run = <Result>(work: () => Promise<Result>) => {
        turns.push({ words, tag });
        return work();
      };
      const { list } = queuePlants(plants, { queue: { run }, noTimeout: false })("a");
      await list({ words, tag, limit: 1, bytesMax: 1, after: undefined });
    }
    expect(turns).toEqual([
      { words: [{ anyOf: ["aloe"] }], tag: undefined },
      { words: [], tag: null },
      { words: [], tag: "x" },
    ]);
  });

  it("refuse what exceeds an owner's share, not what another asks for, and never what is patient", async () => {
    const { ask, begun, end } = openTurns({ slots: 2, ownerSlots: 2, waitingMax: 4 });
    for (let count = 0; count < 6; count += 1) void ask("a");
    expect(await rejectionOf(ask("a"))).toMatchObject({ code: "overloaded" });
    void ask("a", true);
    void ask("b");
    for (let count = 0; count < 8; count += 1) await end();
    expect(begun.toSorted()).toEqual(["a", "a", "a", "a", "a", "a", "a", "b"]);
  });

  it("end a wait that is too long, and give its place and turn to others", async () => {
    const { ask, begun, end } = openTurns({ slots: 1, ownerSlots: 1, waitingMax: 1, waitMs: 20 });
    void ask("a");
    expect(await rejectionOf(ask("a"))).toMatchObject({ code: "overloaded" });
    const second = ask("a");
    await end();
    expect(begun).toEqual(["a", "a"]);
    await end();
    await second;
  });

  it("never run more than there are slots, and run all in the end, in any order of requests and ends", async () => {
    const step = fc.oneof(fc.constantFrom("a", "b", "c"), fc.nat());
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { ask, begun, running, end } = openTurns();
        const asked: Promise<void>[] = [];
        for (const one of steps) {
          if (typeof one === "string") asked.push(ask(one));
          else await end(one % Math.max(1, running.length));
          expect(running.length).toBeLessThanOrEqual(LIMITS.slots);
          for (const owner of ["a", "b", "c"]) {
            expect(running.filter((work) => work.owner === owner).length).toBeLessThanOrEqual(LIMITS.ownerSlots);
          }
        }
        while (running.length > 0) await end();
        await Promise.all(asked);
        expect(begun).toHaveLength(asked.length);
      }),
      { numRuns: 50 },
    );
  });
});
