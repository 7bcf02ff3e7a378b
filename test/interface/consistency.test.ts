import { describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import { crowd, findStale, WRITES } from "../support/read-matrix.ts";
import type { Ask, Matrix, MatrixOptions } from "../support/read-matrix.ts";
import { readToken, startTestService } from "../support/service.ts";
import { PATIENT } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const INDEXER = "src/store/sqlite/search/indexer.ts";

/** Enough to see a bug. */
const SOME_WRITES = ["POST a plant with a tag", "PATCH a name", "import NDJSON of one line", "import in place of plants"];

/** How many plants somebody else imports at once. */
const CROWD = 20_000;

/** Not a bug: each step of the index takes longer. */
const SLOW_INDEX = [{ file: INDEXER, from: "const { seq: changes, work } =", to: "Bun.sleepSync(5); const { seq: changes, work } =" }];

/** Reads ask the index as it is. */
const STALE_READS = [{ file: "src/store/sqlite/search/searcher.ts", from: "upTo: translated(newest),", to: "upTo: NOTHING_INDEXED," }];
/** The counts of tags are kept whatever changes. */
const STALE_TAGS = [{ file: "src/store/tags.ts", from: "last.change === newestChange?.()", to: "last.change >= 0" }];
/** A page has the tag of any other with as many characters. */
const BLIND_TAG = [{ file: "src/http/etag.ts", from: "digest(body)}${", to: "digest(String(body.length))}${" }];

/** What is stale in a service on SQLite that runs this source. */
async function findStaleOf(bugs: readonly PlantedBug[], options: MatrixOptions): Promise<Matrix> {
  const data = temporaryFolder();
  const { url, end } = await startProcess({ data, root: plantBugs(bugs), flags: PATIENT });
  const authorization = `Bearer ${await readToken(data)}`;
  const ask: Ask = (path, { headers, ...init } = {}) => fetch(url + path, { ...init, headers: { authorization, ...headers } });
  const endCrowd = options.isBeside ? crowd(ask, CROWD) : undefined;
  try {
    return await findStale(ask, options);
  } finally {
    await endCrowd?.();
    await end("SIGTERM");
  }
}

function report(where: string, { writes, reads, cells, stale }: Matrix): readonly string[] {
  console.log(`${where}: ${writes} kinds of writes, ${reads} kinds of reads, ${cells} cells, ${stale.length} stale`);
  return stale;
}

describe("what was answered is in every read that begins later", () => {
  it.each(ENGINES)("after each kind of write, on $engine", async ({ engine, openFlags }) => {
    const service = await startTestService(await openFlags());
    const matrix = await findStale(service.request);
    await service.stop();
    expect(report(engine, matrix)).toEqual([]);
    // Each write is followed by each read, and nearly each of these is repeated with a condition.
    expect(matrix.cells).toBeGreaterThan(2500);
  });

  it("beside a large import of somebody else, though the index is slow", async () => {
    const matrix = await findStaleOf(SLOW_INDEX, { isBeside: true, writes: pick(SOME_WRITES) });
    expect(report("beside an import", matrix)).toEqual([]);
    expect(matrix.cells).toBeGreaterThan(500);
  });

  it.each([
    { bug: "reads asked the index as it is", bugs: STALE_READS, seen: /q=|sort=/ },
    { bug: "counts of tags were kept", bugs: STALE_TAGS, seen: /\/tags$/ },
    { bug: "a list had the validator of another", bugs: BLIND_TAG, seen: /304/ },
  ])("would visibly not be if $bug", async ({ bugs, seen }) => {
    const { stale } = await findStaleOf(bugs, { writes: pick(SOME_WRITES) });
    expect(stale.filter((cell) => seen.test(cell))).not.toEqual([]);
  });
});

describe.each(ENGINES)("a plant that imports replace again and again, on $engine", ({ openFlags }) => {
  it("is in each list that it matches, once", async () => {
    const service = await startTestService(await openFlags());
    const plantsOf = (round: number) =>
      Array.from({ length: 300 }, (_, id) => JSON.stringify({ id, name: `Rosa ${(id * 7 + round * 31) % 300}`, tag: "shrub" })).join("\n");
    const replace = async (round: number) => {
      const response = await service.request("/plants/import?onConflict=replace", { method: "POST", body: plantsOf(round) });
      expect(await response.json()).toMatchObject({ read: 300, refused: 0 });
    };
    await replace(0);
    let isOver = false;
    const replacing = (async () => {
      for (let round = 1; !isOver; round += 1) await replace(round);
    })();
    const wanted = Array.from({ length: 300 }, (_, id) => id);
    for (let round = 0; round < 10; round += 1)
      for (const sort of ["id", "name", "-name", "newest", "oldest"])
        for (const filter of ["", "&q=rosa", "&tag=shrub", "&q=rosa&tag=shrub"]) {
          const path = `/plants?limit=1000&sort=${sort}${filter}`;
          const found = (await (await service.request(path)).json()) as readonly { id: number }[];
          const ids = found.map(({ id }) => id);
          expect({ path, ids: ids.toSorted((left, right) => left - right) }).toEqual({ path, ids: wanted });
        }
    isOver = true;
    await replacing;
    await service.stop();
  });
});

const pick = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, WRITES[name]!]));
