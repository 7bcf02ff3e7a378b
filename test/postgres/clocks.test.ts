import { expect, it } from "bun:test";
import { createLog } from "../../src/runtime/log.ts";
import { parseHosts } from "../../src/store/postgres/engine/hosts.ts";
import { openPool } from "../../src/store/postgres/engine/pool.ts";
import type { Execute } from "../../src/store/postgres/engine/retry.ts";
import { watchClock } from "../../src/store/postgres/pooled-server.ts";
import { startProcess } from "../support/process.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const MINUTE_MS = 60_000;

it("a clock that differs from that of the database is told each time that it begins to, and when it no longer does", async () => {
  const pool = openPool({ hosts: parseHosts((await sharedCluster()).url()), connectionsMax: 1, serverMs: 30_000 });
  const execute: Execute = (statement, values) => pool.query(statement, values, { connectMs: 30_000, statementMs: 30_000 });
  const lines: string[] = [];
  const log = createLog({ level: "info", isTerminal: false, write: (line) => lines.push(line), now: Date.now });
  let offMs = 0;
  const look = watchClock({ execute, now: () => Date.now() + offMs, log });
  for (offMs of [0, 5 * MINUTE_MS, 5 * MINUTE_MS, 0, -5 * MINUTE_MS, 0, 0]) await look();
  const told = lines.map((line) => JSON.parse(line) as { event: string; aheadSeconds?: number });
  expect(told.map(({ event, aheadSeconds = 0 }) => [event, Math.round(aheadSeconds / 60)])).toEqual([
    ["clock_differs", 5],
    ["clock_agrees", 0],
    ["clock_differs", -5],
    ["clock_agrees", 0],
  ]);
  await pool.close();
});

it("a service looks at the clock of its database", async () => {
  const server = await sharedCluster();
  const database = await server.createDatabase();
  const name = new URL(database).pathname.slice(1);
  const service = await startProcess({ data: temporaryFolder(), flags: ["--database", database] });
  // PostgreSQL cannot be told another time, but what its clock is called can.
  await server.query("ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO true_timestamp", name);
  await server.query(
    "CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT true_timestamp() + interval '1 day' $$",
    name,
  );
  await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`);
  await until("The service tells it", () => service.lines.some((line) => line.includes(`"clock_differs","aheadSeconds":-86400`)));
  await service.end("SIGTERM");
});
