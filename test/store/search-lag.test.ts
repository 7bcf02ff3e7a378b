import { chownSync, readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "bun:test";
import { createLog } from "../../src/runtime/log.ts";
import { asPlantId } from "../../src/domain/plant.ts";
import { openReader } from "../../src/store/sqlite/engine/reader.ts";
import { Writer } from "../../src/store/sqlite/engine/writer.ts";
import { Follower } from "../../src/store/sqlite/search/follower.ts";
import { Indexer } from "../../src/store/sqlite/search/indexer.ts";
import type { IndexProgress } from "../../src/store/sqlite/search/indexer.ts";
import { Searcher } from "../../src/store/sqlite/search/searcher.ts";
import { NOTHING_INDEXED } from "../../src/store/sqlite/search/changes.ts";
import type { Thread } from "../../src/store/sqlite/engine/thread.ts";
import { openServed } from "../support/checked.ts";
import { ThreadPriority } from "../../src/runtime/thread-priority.ts";
import { PATIENCE } from "../support/patience.ts";
import { needsOtherUser, OTHER } from "../support/process.ts";
import { killServices, startService } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

afterAll(killServices);

const log = createLog({ level: "error", isTerminal: false, write: () => {}, now: () => 0 });

it("a plant that is renamed while a list by name is read stays in the list, in its former place", async () => {
  const path = join(temporaryFolder(), "plants.db");
  const writer = new Writer(path);
  const indexer = new Indexer(path);
  const reader = openReader(path);
  const rename = (ids: readonly bigint[], names: readonly string[]) =>
    writer.importPlants(
      { ids: BigInt64Array.from(ids), names, tags: names.map(() => null) },
      { isReplacing: true, isDryRun: false },
      NOTHING_INDEXED,
    );
  rename([1n, 2n, 3n], ["Aloe", "Berberis", "Carex"]);
  while (indexer.step().did !== "nothing");
  const searcher = new Searcher({
    thread: {
      async call(name: keyof Indexer, ...args: unknown[]) {
        const answer: unknown = Reflect.apply(indexer[name], indexer, args);
        // After the index was asked, and before the plants are read.
        if (name === "order") rename([1n], ["Zinnia"]);
        return answer;
      },
    } as unknown as Thread<Indexer>,
    priority: new ThreadPriority(undefined),
    find: reader.plants.find,
    newest: reader.newestChanges,
    log,
    onFatal: () => {},
    now: () => 0,
  });
  const query = { words: [], tag: undefined, order: "name", after: undefined, limit: 10, bytesMax: 1000 } as const;
  const { plants } = await searcher.listOrdered(query);
  await searcher.close();
  reader.close();
  writer.close();
  expect(plants.map(({ name }) => name)).toEqual(["Zinnia", "Berberis", "Carex"]);
});

/** A follower whose steps are what the test says. */
function openFollower(step: () => unknown, now: () => number, priority: Pick<ThreadPriority, "set"> = new ThreadPriority(undefined)) {
  const thread = { call: step } as unknown as Thread<Indexer>;
  return new Follower({ thread, priority, log, onFatal: () => {}, now });
}

it("the lag of the search index counts a build from its beginning, ends when all is indexed, and begins again with a commit", async () => {
  let time = 0;
  /** What the next steps do, of a second each, once they are let go on. */
  const steps: PromiseWithResolvers<IndexProgress>[] = [];
  const step = () => {
    const next = Promise.withResolvers<IndexProgress>();
    steps.push(next);
    return next.promise;
  };
  const index = openFollower(step, () => time);
  async function end(at: number, did: IndexProgress["did"]): Promise<number> {
    await until(`Step ${at} has begun`, () => steps.length > at);
    time += 1000;
    steps[at]!.resolve({ did, held: NOTHING_INDEXED, indexed: NOTHING_INDEXED });
    if (did !== "nothing") await until("The next has begun", () => steps.length > at + 1);
    return index.lagMs();
  }
  expect([await end(0, "building"), await end(1, "building")]).toEqual([1000, 2000]);
  await end(2, "indexed");
  // The thread still looks for words of no use.
  expect(await end(3, "forgot")).toBe(0);
  index.follow();
  expect(await end(4, "forgot")).toBe(1000);
  await end(5, "nothing");
  await until("The lag has ended", () => index.lagMs() === 0);
  index.close();
});

describe("what waits for the index", () => {
  const step = { held: 7, indexed: NOTHING_INDEXED };

  it.each([
    { when: "it holds the change", act: () => Promise.resolve({ ...step, did: "indexed" }) },
    { when: "it is being built", act: () => Promise.resolve({ ...step, held: NOTHING_INDEXED, did: "building" }) },
    { when: "a step fails", act: () => Promise.reject(new Error("The disk is full.")) },
  ])("goes on when $when, and not before", async ({ act }) => {
    const first = Promise.withResolvers<unknown>();
    let steps = 0;
    const call = async () => {
      steps += 1;
      if (steps > 2) return { ...step, did: "nothing" };
      return steps === 1 ? { ...step, held: 6, did: "indexed" } : first.promise;
    };
    const index = openFollower(call, () => 0);
    let isReached = false;
    const reaching = index.reach(7).then(() => (isReached = true));
    await until("The second step has begun", () => steps === 2);
    await new Promise(setImmediate);
    expect(isReached).toBe(false);
    void act().then(first.resolve, first.reject);
    await reaching;
    index.close();
  });
});

describe("the search thread", () => {
  it("goes last, but not while a read or an import waits, nor when the index is a second behind", async () => {
    let time = 0;
    let isLast: boolean | undefined;
    const priority = { set: (isLow: boolean) => void (isLast = isLow) };
    const progress = { held: NOTHING_INDEXED, indexed: NOTHING_INDEXED };
    const second = Promise.withResolvers<IndexProgress>();
    let steps = 0;
    const step = () => ((steps += 1) === 2 ? second.promise : Promise.resolve({ ...progress, did: "nothing" }));
    const index = openFollower(step, () => time, priority);
    await until("The first step is done", () => steps === 1 && isLast === true);
    const release = index.hurry();
    expect(isLast).toBe(false);
    release();
    expect(isLast).toBe(true);
    index.follow();
    time = 1000 * PATIENCE - 1;
    index.follow();
    expect(isLast).toBe(true);
    time = 1000 * PATIENCE;
    index.follow();
    expect(isLast).toBe(false);
    await until("The second step has begun", () => steps === 2);
    const reaching = index.reach(1);
    time = 0;
    index.follow();
    expect(isLast).toBe(false);
    second.resolve({ ...progress, held: 1, did: "indexed" });
    await reaching;
    index.follow();
    expect(isLast).toBe(true);
    index.close();
  });

  /** By the name of a thread, how far others go before it. */
  function nicenessIn({ pid }: Readonly<{ pid: number }>): Record<string, number> {
    const read = (task: string, file: string) => readFileSync(`/proc/${pid}/task/${task}/${file}`, "latin1");
    // Field 19 of proc_pid_stat(5). The name, in brackets, may contain spaces.
    const ofTask = (task: string) => Number(read(task, "stat").split(") ").at(-1)!.split(" ")[16]);
    return Object.fromEntries(readdirSync(`/proc/${pid}/task`).map((task) => [read(task, "comm").trim(), ofTask(task)]));
  }

  it("has the lowest priority at rest, and the other threads have theirs", async () => {
    const service = await startService({});
    await until("The index is built", () => nicenessIn(service)["search"] === 19);
    expect(nicenessIn(service)["writer"]).toBe(getPriority());
    await service.end("SIGTERM");
  });

  needsOtherUser().it("keeps its priority where the process could not raise it again", async () => {
    const data = temporaryFolder();
    chownSync(data, OTHER, OTHER);
    const asOther = ["setpriv", `--reuid=${OTHER}`, `--regid=${OTHER}`, "--clear-groups"];
    const service = await startService({ data, under: asOther });
    expect((await service.ask("GET", "/plants?tag=tree")).status).toBe(200);
    expect(nicenessIn(service)["search"]).toBe(getPriority());
    await service.end("SIGTERM");
  });
});

it("a commit of an import is done when the index holds those before, so that a search waits for one or two of them only", async () => {
  const path = join(temporaryFolder(), "plants.db");
  const { plants, close } = await openServed(dirname(path));
  const count = () => plants.count({ words: [{ anyOf: ["acer"] }], tag: undefined }).then(Boolean, () => false);
  await until("The index is built", count);
  using stored = new DatabaseSync(path, { readOnly: true });
  using index = new DatabaseSync(`${path}.search`, { readOnly: true });
  for (let at = 0; at < 5; at += 1) {
    const some = Array.from({ length: 2000 }, (_, of) => ({ id: asPlantId(BigInt(at * 2000 + of)), name: `Acer ${of}` }));
    const before = Number(stored.prepare("SELECT max(seq) AS seq FROM changes").get()!["seq"]);
    await plants.import(some, { isReplacing: false, isDryRun: false });
    expect(Number(index.prepare("SELECT changes FROM state").get()!["changes"])).toBeGreaterThanOrEqual(before);
  }
  await close();
});
