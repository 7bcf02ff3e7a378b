import { afterEach, describe, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantOf, startFlood } from "../support/flood.ts";
import { needs } from "../support/program.ts";
import { killServices, startTraced } from "../support/service-process.ts";
import { readToken } from "../support/service.ts";
import { until } from "../support/until.ts";
import { answeredIn, findUnsynced, parseTrace } from "../support/trace.ts";

afterEach(killServices);

needs("strace").it(
  "each of 300 and more responses 200 is sent only after the plant's commit was written to the WAL and then synced",
  async () => {
    const data = temporaryFolder();
    const service = await startTraced({ data });
    const flood = startFlood({ url: service.url, token: await readToken(data), firstId: 1000n, clients: 8 });
    await until("Some plants are answered", () => flood.count() >= 400);
    const names = (await flood.stop()).answered.map((id) => plantOf(id).name);
    expect(await service.end("SIGTERM")).toBe(0);
    const calls = parseTrace(await service.trace());
    expect(answeredIn(calls, names)).toEqual(names);
    expect(findUnsynced(calls, names)).toEqual([]);
  },
);

const WRITE = String.raw`7 pwrite64(10</data/plants.db-wal>, "\r\0oak", 4096, 56) = 4096`;
const SYNC = "7 fsync(10</data/plants.db-wal>)  = 0";
const SEND = String.raw`1 sendto(15<TCP:[127.0.0.1:1->127.0.0.1:2]>, "HTTP/1.1 200 OK\r\n\r\n{\"name\":\"oak\"}", 30, 0, NULL, 0) = 30`;
const SYNC_BEGINS = "7 fsync(10</data/plants.db-wal> <unfinished ...>";
const SYNC_ENDS = "7 <... fsync resumed>)            = 0";
const WRITE_BEGINS = String.raw`7 pwrite64(10</data/plants.db-wal>, "\r\0oak", 4096, 56 <unfinished ...>`;
const WRITE_ENDS = "7 <... pwrite64 resumed>)         = 4096";
const SYNC_FAILS = "7 fsync(10</data/plants.db-wal>)  = -1 EIO (Input/output error) (INJECTED)";

describe("the reader of traces finds the response", () => {
  for (const [why, ...lines] of [
    ["sound when write, sync and response follow each other", WRITE, SYNC, SEND],
    ["sound when both parts of the sync are in between", WRITE, SYNC_BEGINS, "1 --- SIGCHLD ---", SYNC_ENDS, SEND],
    ["sound when a later commit writes the plant's page again", WRITE, SYNC, WRITE, SEND],
    ["too early when the sync ends after it", WRITE, SYNC_BEGINS, SEND, SYNC_ENDS],
    ["too early when the sync never ends", WRITE, SYNC_BEGINS, SEND],
    ["too early when the process was killed in the sync", WRITE, SYNC.replace("= 0", "= ?"), SEND],
    ["too early when the sync comes after it", WRITE, SEND, SYNC],
    ["too early when the sync began before the write", SYNC, WRITE, SEND],
    ["too early when the write ends after the sync began", WRITE_BEGINS, SYNC, WRITE_ENDS, SEND],
    ["unfounded when the sync failed", WRITE, SYNC_FAILS, SEND],
    ["unfounded when a sync succeeded only after one that failed", WRITE, SYNC_FAILS, SYNC, SEND],
    ["unfounded when another file was synced", WRITE, SYNC.replace("-wal", ""), SEND],
    ["unfounded when the plant was never written", WRITE.replace("oak", "elm"), SYNC, SEND],
  ] as const)
    it(why, () => expect(findUnsynced(parseTrace(lines.join("\n")), ["oak"])).toEqual(why.startsWith("sound") ? [] : ["oak"]));

  it("missing when it is another's, or not a 200", () => {
    const both = SEND.replace("oak", "elm").replace('\\"}"', String.raw`\"}HTTP/1.1 503 \r\n\r\noak"`);
    expect(answeredIn(parseTrace(both), ["elm", "oak"])).toEqual(["elm"]);
  });
});
