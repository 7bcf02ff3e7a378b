import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { createLog } from "../../src/log.ts";
import { openReader } from "../../src/store/sqlite/engine/reader.ts";
import { openWriter } from "../../src/store/sqlite/engine/writer.ts";
import { openIndexer } from "../../src/store/sqlite/search/indexer.ts";
import type { Indexer, IndexProgress } from "../../src/store/sqlite/search/indexer.ts";
import { createSearcher } from "../../src/store/sqlite/search/searcher.ts";
import type { Thread } from "../../src/store/sqlite/engine/thread.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

it("a plant that an import has renamed is not listed in the place of its former name, until the index has followed", async () => {
  const path = join(temporaryFolder(), "plants.db");
  const writer = openWriter(path);
  const indexer = openIndexer(path);
  const reader = openReader(path);
  const nothing = { changes: 0, bulkChanges: 0 };
  const rename = (ids: readonly bigint[], names: readonly string[]) =>
    writer.importPlants(
      { ids: BigInt64Array.from(ids), names, tags: names.map(() => null) },
      { isReplacing: true, isDryRun: false },
      nothing,
    );
  const searcher = createSearcher({
    // Steps are those of this test alone.
    thread: {
      call: (name: keyof Indexer, ...args: unknown[]) =>
        Promise.resolve(
          name === "step" ? { did: "nothing", indexed: nothing } : (indexer[name] as (...given: unknown[]) => unknown)(...args),
        ),
    } as unknown as Thread<Indexer>,
    find: reader.plants.find,
    log: createLog({ level: "error", isTerminal: false, write: () => {}, now: () => 0 }),
    onFatal: () => {},
    now: () => 0,
  });
  const list = async () => {
    const { plants } = await searcher.listOrdered({
      words: [],
      tag: undefined,
      order: "name",
      after: undefined,
      limit: 10,
      bytesMax: 1000,
    });
    return plants.map(({ name }) => name);
  };
  const index = () => {
    while (indexer.step().did !== "nothing");
  };
  rename([1n, 2n, 3n], ["Aloe", "Berberis", "Carex"]);
  index();
  expect(await list()).toEqual(["Aloe", "Berberis", "Carex"]);
  rename([1n], ["Zinnia"]);
  expect(await list()).toEqual(["Berberis", "Carex"]);
  index();
  expect(await list()).toEqual(["Berberis", "Carex", "Zinnia"]);
  await searcher.close();
  reader.close();
  writer.close();
});

describe("the lag of the search index", () => {
  /** A searcher whose steps, of a second each, do what the test says. */
  function start() {
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
    return { searcher, end };
  }

  it("ends when all is indexed, though the thread still looks for words of no use, and begins again with a commit", async () => {
    const { searcher, end } = start();
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

  it("counts a build from its beginning, also where nobody changes a plant", async () => {
    const { searcher, end } = start();
    await end(0, "building");
    await end(1, "building");
    expect(searcher.lagMs()).toBe(2000);
    await end(2, "indexed");
    await end(3, "nothing");
    await until("The lag has ended", () => searcher.lagMs() === 0);
    await searcher.close();
  });
});
