import { expect, it } from "bun:test";
import { watchClock } from "../../src/store/postgres/warnings.ts";
import { FIND_TIME } from "../../src/store/postgres/engine/requirements.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { startRewriter } from "../support/postgres/stand-in.ts";
import { openExecute, openLog, openStore } from "../support/postgres/store.ts";
import { until } from "../support/until.ts";

const MINUTE_MS = 60_000;

it("a clock that differs from that of the database is told each time that it begins to, and when it no longer does", async () => {
  const { execute, close } = openExecute((await sharedCluster()).url());
  const log = openLog();
  let offMs = 0;
  const look = watchClock({ execute, now: () => Date.now() + offMs, log });
  for (offMs of [0, 5 * MINUTE_MS, 5 * MINUTE_MS, 0, -5 * MINUTE_MS, 0, 0]) await look();
  const told = log.lines.map((line) => JSON.parse(line) as { event: string; aheadSeconds?: number });
  expect(told.map(({ event, aheadSeconds = 0 }) => [event, Math.round(aheadSeconds / 60)])).toEqual([
    ["clock_differs", 5],
    ["clock_agrees", 0],
    ["clock_differs", -5],
    ["clock_agrees", 0],
  ]);
  await close();
});

it("a service looks at the clock of its database", async () => {
  const server = await sharedCluster();
  const later = await startRewriter(server, FIND_TIME.text, "SELECT 32503680000000::bigint");
  const log = openLog();
  const store = await openStore(later.url(await server.createDatabase()), { log });
  await until("The service tells it", () => log.lines.some((line) => /"clock_differs","aheadSeconds":-\d{10}/.test(line)));
  await store.close();
  await later.stop();
});
