import { afterEach, describe, expect, it } from "bun:test";
import { ANSWER_BEFORE_COMMIT, SYNC_OFF } from "../support/bugs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import type { PlantedBug } from "../support/plant-bugs.ts";
import { PROJECT } from "../support/process.ts";
import { plantOf, startFlood } from "../support/flood.ts";
import { needs } from "../support/program.ts";
import { killServices, startTraced } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { until } from "../support/until.ts";
import { answeredIn, findUnsynced, parseTrace } from "../support/trace.ts";

afterEach(killServices);

/** The service under load. Judges its trace. */
async function traceLoad(root: string) {
  const data = temporaryFolder();
  const service = await startTraced({ data, root });
  const flood = startFlood({ url: service.url, token: await readToken(data), firstId: 1000n, clients: 8 });
  await until("Some plants are answered", () => flood.count() >= 400);
  const names = (await flood.stop()).answered.map((id) => plantOf(id).name);
  expect(await service.end("SIGTERM")).toBe(0);
  const calls = parseTrace(await service.trace());
  expect(answeredIn(calls, names)).toEqual(names);
  return { answered: names.length, unsynced: findUnsynced(calls, names) };
}

describe("under strace", () => {
  needs("strace").it(
    "each of 300 and more responses 200 is sent only after the plant's commit was written to the WAL and then synced",
    async () => {
      const { answered, unsynced } = await traceLoad(PROJECT);
      expect(answered).toBeGreaterThanOrEqual(300);
      expect(unsynced).toEqual([]);
    },
  );

  const bugs: ReadonlyArray<{ why: string; bug: readonly PlantedBug[] }> = [
    { why: "SQLite did not sync", bug: SYNC_OFF },
    { why: "the response were sent before the commit", bug: ANSWER_BEFORE_COMMIT },
  ];
  for (const { why, bug } of bugs) {
    it(`at least nine of ten responses would be noticed if ${why}`, async () => {
      const { answered, unsynced } = await traceLoad(plantBugs(bug));
      expect(answered).toBeGreaterThanOrEqual(300);
      expect(unsynced.length).toBeGreaterThan(answered * 0.9);
    });
  }
});

const WRITE = String.raw`7 pwrite64(10</data/plants.db-wal>, "\r\0oak", 4096, 56) = 4096`;
const SYNC = "7 fsync(10</data/plants.db-wal>)  = 0";
const SEND = String.raw`1 sendto(15<TCP:[127.0.0.1:1->127.0.0.1:2]>, "HTTP/1.1 200 OK\r\n\r\n{\"name\":\"oak\"}", 30, 0, NULL, 0) = 30`;
const SYNC_BEGINS = "7 fsync(10</data/plants.db-wal> <unfinished ...>";
const SYNC_ENDS = "7 <... fsync resumed>)            = 0";
const WRITE_BEGINS = String.raw`7 pwrite64(10</data/plants.db-wal>, "\r\0oak", 4096, 56 <unfinished ...>`;
const WRITE_ENDS = "7 <... pwrite64 resumed>)         = 4096";
const SYNC_FAILS = "7 fsync(10</data/plants.db-wal>)  = -1 EIO (Input/output error) (INJECTED)";

describe("the reader of traces finds the response", () => {
  const traces: ReadonlyArray<{ why: string; lines: readonly string[]; isSound: boolean }> = [
    { why: "sound when write, sync and response follow each other", lines: [WRITE, SYNC, SEND], isSound: true },
    {
      why: "sound when both parts of the sync are in between",
      lines: [WRITE, SYNC_BEGINS, "1 --- SIGCHLD ---", SYNC_ENDS, SEND],
      isSound: true,
    },
    { why: "sound when a later commit writes the plant's page again", lines: [WRITE, SYNC, WRITE, SEND], isSound: true },
    { why: "too early when the sync ends after it", lines: [WRITE, SYNC_BEGINS, SEND, SYNC_ENDS], isSound: false },
    { why: "too early when the sync never ends", lines: [WRITE, SYNC_BEGINS, SEND], isSound: false },
    { why: "too early when the process was killed in the sync", lines: [WRITE, SYNC.replace("= 0", "= ?"), SEND], isSound: false },
    { why: "too early when the sync comes after it", lines: [WRITE, SEND, SYNC], isSound: false },
    { why: "too early when the sync began before the write", lines: [SYNC, WRITE, SEND], isSound: false },
    { why: "too early when the write ends after the sync began", lines: [WRITE_BEGINS, SYNC, WRITE_ENDS, SEND], isSound: false },
    { why: "unfounded when the sync failed", lines: [WRITE, SYNC_FAILS, SEND], isSound: false },
    { why: "unfounded when a sync succeeded only after one that failed", lines: [WRITE, SYNC_FAILS, SYNC, SEND], isSound: false },
    { why: "unfounded when another file was synced", lines: [WRITE, SYNC.replace("-wal", ""), SEND], isSound: false },
    { why: "unfounded when the plant was never written", lines: [WRITE.replace("oak", "elm"), SYNC, SEND], isSound: false },
  ];
  for (const { why, lines, isSound } of traces) {
    it(why, () => expect(findUnsynced(parseTrace(lines.join("\n")), ["oak"])).toEqual(isSound ? [] : ["oak"]));
  }

  it("missing when it is another's, or not a 200", () => {
    const both = SEND.replace("oak", "elm").replace('\\"}"', String.raw`\"}HTTP/1.1 503 \r\n\r\noak"`);
    expect(answeredIn(parseTrace(both), ["elm", "oak"])).toEqual(["elm"]);
  });
});
