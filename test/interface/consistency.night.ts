import { describe, expect, it } from "bun:test";
import { ENGINES } from "../support/engines.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import { crowd, findStale, WRITES } from "../support/read-matrix.ts";
import type { Ask } from "../support/read-matrix.ts";
import { readToken, startTestService } from "../support/service.ts";
import { PATIENT } from "../support/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Enough to see a bug. */
const SOME_WRITES = ["POST a plant with a tag", "PATCH a name", "import NDJSON of one line", "import in place of plants"];

/** How many plants another sender imports at once. */
const CROWD = 20_000;

/** Each step of the index takes longer. */
const SLOW_INDEX = {
  file: "src/store/sqlite/search/intake.ts",
  from: "let last = from;",
  to: "Bun.sleepSync(5); let last = from;",
};

it("what was answered is in every read that begins later, beside a large import of another sender, though the index is slow", async () => {
  const data = temporaryFolder();
  const { url, end } = await startProcess({ data, root: plantBugs([SLOW_INDEX]), flags: PATIENT });
  const authorization = `Bearer ${await readToken(data)}`;
  const ask: Ask = (path, { headers, ...init } = {}) => fetch(url + path, { ...init, headers: { authorization, ...headers } });
  const endCrowd = crowd(ask, CROWD);
  const writes = Object.fromEntries(SOME_WRITES.map((name) => [name, WRITES[name]!]));
  const { cells, stale } = await findStale(ask, { isBeside: true, writes });
  await endCrowd();
  await end("SIGTERM");
  expect(stale).toEqual([]);
  expect(cells).toBeGreaterThan(500);
});

describe.each(ENGINES)("the catalogue on $engine", ({ openFlags }) => {
  it("has what was answered in every read that begins later, also of many plants", async () => {
    const service = await startTestService(await openFlags());
    expect((await findStale(service.request)).stale).toEqual([]);
    await service.stop();
  });

  it("has a plant that imports replace again and again once in each list that it matches", async () => {
    const service = await startTestService(await openFlags());
    const wanted = Array.from({ length: 300 }, (_, id) => id);
    async function replace(round: number): Promise<void> {
      const body = wanted.map((id) => JSON.stringify({ id, name: `Rosa ${(id * 7 + round * 31) % 300}`, tag: "shrub" })).join("\n");
      const response = await service.request("/plants/import?onConflict=replace", { method: "POST", body });
      expect(await response.json()).toMatchObject({ read: 300, refused: 0 });
    }
    await replace(0);
    let isOver = false;
    const replacing = (async () => {
      for (let round = 1; !isOver; round += 1) await replace(round);
    })();
    for (let round = 0; round < 5; round += 1)
      for (const sort of ["id", "name", "-name", "newest", "oldest"])
        for (const filter of ["", "&q=rosa", "&tag=shrub", "&q=rosa&tag=shrub"]) {
          const path = `/plants?limit=1000&sort=${sort}${filter}`;
          const found = (await (await service.request(path)).json()) as readonly { id: number }[];
          expect({ path, ids: found.map(({ id }) => id).toSorted((left, right) => left - right) }).toEqual({ path, ids: wanted });
        }
    isOver = true;
    await replacing;
    await service.stop();
  });
});
