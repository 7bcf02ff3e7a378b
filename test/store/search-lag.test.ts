import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "bun:test";
import { createLog } from "../../src/runtime/log.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { openReader } from "../../src/store/sqlite/engine/reader.ts";
import { openWriter } from "../../src/store/sqlite/engine/writer.ts";
import { openIndexer } from "../../src/store/sqlite/search/indexer.ts";
import type { Indexer, IndexProgress } from "../../src/store/sqlite/search/indexer.ts";
import { createSearcher } from "../../src/store/sqlite/search/searcher.ts";
import { NOTHING_INDEXED } from "../../src/store/sqlite/search/changes.ts";
import type { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Thread } from "../../src/store/sqlite/engine/thread.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const SEARCHER = "src/store/sqlite/search/searcher.ts";

/** What was renamed after the index was asked is left out. */
const RENAMED_DROPPED = [
  {
    file: SEARCHER,
    from: "!isFound(plant, { words, tag })) continue;",
    to: "!isFound(plant, { words, tag }) || nameKey(plant.name) !== some[next]!.key) continue;",
  },
  {
    file: SEARCHER,
    from: 'import { isFound } from "../../../domain/terms.ts";',
    to: 'import { isFound } from "../../../domain/terms.ts"; import { nameKey } from "../../../domain/name-order.ts";',
  },
];

/** A list by name of three plants, of which one is renamed after the index was asked, and before the plants are read. */
async function listWhileRenamed(root = PROJECT): Promise<string[]> {
  const { createSearcher: create } = (await import(join(root, SEARCHER))) as { createSearcher: typeof createSearcher };
  const path = join(temporaryFolder(), "plants.db");
  const writer = openWriter(path);
  const indexer = openIndexer(path);
  const reader = openReader(path);
  const rename = (ids: readonly bigint[], names: readonly string[]) =>
    writer.importPlants(
      { ids: BigInt64Array.from(ids), names, tags: names.map(() => null) },
      { isReplacing: true, isDryRun: false },
      NOTHING_INDEXED,
    );
  rename([1n, 2n, 3n], ["Aloe", "Berberis", "Carex"]);
  while (indexer.step().did !== "nothing");
  const searcher = create({
    thread: {
      async call(name: keyof Indexer, ...args: unknown[]) {
        const answer = (indexer[name] as (...given: unknown[]) => unknown)(...args);
        if (name === "order") rename([1n], ["Zinnia"]);
        return answer;
      },
    } as unknown as Thread<Indexer>,
    find: reader.plants.find,
    newest: reader.newestChanges,
    log: createLog({ level: "error", isTerminal: false, write: () => {}, now: () => 0 }),
    onFatal: () => {},
    now: () => 0,
  });
  const query = { words: [], tag: undefined, order: "name", after: undefined, limit: 10, bytesMax: 1000 } as const;
  const { plants } = await searcher.listOrdered(query);
  await searcher.close();
  reader.close();
  writer.close();
  return plants.map(({ name }) => name);
}

describe("a plant that is renamed while a list by name is read", () => {
  it("stays in the list, in its former place", async () => {
    expect(await listWhileRenamed()).toEqual(["Zinnia", "Berberis", "Carex"]);
  });

  it("would visibly vanish if its place had to be that of its name", async () => {
    expect(await listWhileRenamed(plantBugs(RENAMED_DROPPED))).toEqual(["Berberis", "Carex"]);
  });
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
      steps[at]!.resolve({ did, held: NOTHING_INDEXED, indexed: NOTHING_INDEXED });
      if (did !== "nothing") await until("The next has begun", () => steps.length > at + 1);
    }
    const searcher = createSearcher({
      thread: { call: (name: string) => (name === "step" ? step() : Promise.resolve()) } as unknown as Thread<Indexer>,
      find: () => [],
      newest: () => NOTHING_INDEXED,
      log: createLog({ level: "error", isTerminal: false, write: () => {}, now: () => time }),
      onFatal: () => {},
      now: () => time,
    });
    return { searcher, end };
  }

  it("ends when all is indexed, though the thread still looks for words of no use, and begins again with a commit", async () => {
    const { searcher, end } = start();
    searcher.follow();
    await end(0, "indexed");
    expect(searcher.lagMs()).toBe(1000);
    await end(1, "forgot");
    expect(searcher.lagMs()).toBe(0);
    searcher.follow();
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

describe("what waits for the index", () => {
  const step = { held: { changes: 7, bulkChanges: 0 }, indexed: NOTHING_INDEXED };

  it.each([
    { when: "it holds the change", act: () => Promise.resolve({ ...step, did: "indexed" }) },
    { when: "it is being built", act: () => Promise.resolve({ ...step, held: NOTHING_INDEXED, did: "building" }) },
    { when: "a step fails", act: () => Promise.reject(new Error("The disk is full.")) },
  ])("goes on when $when, and not before", async ({ act }) => {
    const first = Promise.withResolvers<unknown>();
    let steps = 0;
    const call = async (name: string) => {
      if (name !== "step") return undefined;
      steps += 1;
      if (steps > 2) return { ...step, did: "nothing" };
      return steps === 1 ? { ...step, held: { changes: 6, bulkChanges: 0 }, did: "indexed" } : first.promise;
    };
    const searcher = createSearcher({
      thread: { call } as unknown as Thread<Indexer>,
      find: () => [],
      newest: () => NOTHING_INDEXED,
      log: createLog({ level: "error", isTerminal: false, write: () => {}, now: () => 0 }),
      onFatal: () => {},
      now: () => 0,
    });
    let isReached = false;
    const reaching = searcher.reach(7).then(() => (isReached = true));
    await until("The second step has begun", () => steps === 2);
    await new Promise(setImmediate);
    expect(isReached).toBe(false);
    void act().then(first.resolve, first.reject);
    await reaching;
    await searcher.close();
  });
});

/** Imports do not wait for the index. */
const UNPACED = [{ file: "src/store/sqlite/plants.ts", from: "await searcher?.reach(before);", to: "void before;" }];

/** After how many of five commits the index holds all of those before. */
async function importsHeld(root = PROJECT): Promise<number> {
  const { openSqliteStore: open } = (await import(join(root, "src/store/sqlite/store.ts"))) as { openSqliteStore: typeof openSqliteStore };
  const path = join(temporaryFolder(), "plants.db");
  const log = createLog({ level: "error", isTerminal: false, write: () => {}, now: () => 0 });
  const { plants, close } = await open({
    path,
    isServing: true,
    queueMax: 10,
    queueWaitMs: 60_000,
    metrics: createMetrics(),
    log,
    onFatal(reason) {
      throw reason;
    },
  });
  const count = () => plants.count({ words: ["acer"], tag: undefined });
  await until("The index is built", () =>
    count().then(
      () => true,
      () => false,
    ),
  );
  using stored = new DatabaseSync(path, { readOnly: true });
  using index = new DatabaseSync(`${path}.search`, { readOnly: true });
  let held = 0;
  for (let at = 0; at < 5; at += 1) {
    const some = Array.from({ length: 2000 }, (_, of) => ({ id: asPlantId(BigInt(at * 2000 + of)), name: `Acer ${of}` }));
    const before = Number(stored.prepare("SELECT max(seq) AS seq FROM changes").get()!["seq"]);
    await plants.import(some, { isReplacing: false, isDryRun: false });
    if (Number(index.prepare("SELECT changes FROM state").get()!["changes"]) >= before) held += 1;
  }
  await close();
  return held;
}

describe("a commit of an import", () => {
  it("is done when the index holds those before, so that a search waits for one or two of them only", async () => {
    expect(await importsHeld()).toBe(5);
  });

  it("would visibly be done before that if imports did not wait for the index", async () => {
    expect(await importsHeld(plantBugs(UNPACED))).toBeLessThan(5);
  });
});
