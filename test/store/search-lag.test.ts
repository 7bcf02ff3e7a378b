import { describe, expect, it } from "bun:test";
import { createLog } from "../../src/log.ts";
import type { Indexer, IndexProgress } from "../../src/store/sqlite/search/indexer.ts";
import { createSearcher } from "../../src/store/sqlite/search/searcher.ts";
import type { Thread } from "../../src/store/sqlite/engine/thread.ts";
import { until } from "../support/until.ts";

describe("the lag of the search index", () => {
  it("ends when all is indexed, though the thread still looks for words of no use, and begins again with a commit", async () => {
    let time = 0;
    /** What the next steps do, once they are let go on. */
    const steps: PromiseWithResolvers<IndexProgress>[] = [];
    const step = () => {
      const next = Promise.withResolvers<IndexProgress>();
      steps.push(next);
      return next.promise;
    };
    async function end(at: number, did: IndexProgress["did"]): Promise<void> {
      await until(`Step ${at} has begun`, () => steps.length > at);
      time += 1000;
      steps[at]!.resolve({ did, indexed: { changes: 0, bulkChanges: 0 } });
      if (did !== "nothing") await until("The next has begun", () => steps.length > at + 1);
    }
    const searcher = createSearcher({
      thread: { call: (name: string) => (name === "step" ? step() : Promise.resolve()) } as unknown as Thread<Indexer>,
      find: () => [],
      log: createLog({ level: "error", isTerminal: false, write: () => {}, now: () => time }),
      onFatal: () => {},
      now: () => time,
    });
    searcher.follow(false);
    await end(0, "indexed");
    expect(searcher.lagMs()).toBe(1000);
    await end(1, "forgot");
    expect(searcher.lagMs()).toBe(0);
    searcher.follow(false);
    await end(2, "forgot");
    expect(searcher.lagMs()).toBe(1000);
    await end(3, "nothing");
    await until("The lag has ended", () => searcher.lagMs() === 0);
    await searcher.close();
  });
});
