import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { cpuSecondsByThread } from "../../bench/cputime.ts";
import { WITHOUT } from "../../bench/leave-one-out.ts";
import { toScript } from "../../bench/pgbench.ts";
import { queryDatabase } from "../../bench/plant-store.ts";
import { FILL, RENAME } from "../../bench/postgres-stock.ts";
import { countInFlight, ONE_BY_ONE } from "../../bench/postgres.ts";
import { runCheck } from "../support/checked.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { startProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("the source still has what the bench edits", () => {
  for (const [step, edits] of Object.entries({
    ...WITHOUT,
    "the group commit of PostgreSQL": ONE_BY_ONE,
  })) {
    it(`to leave out ${step}`, () => {
      expect(plantBugs(edits)).toBeString();
    });
  }
});

it("the threads of a store show the names by which the bench tells them apart", async () => {
  const service = await startProcess({ data: temporaryFolder() });
  expect(Object.keys(cpuSecondsByThread(service.pid))).toEqual(expect.arrayContaining(["main", "writer", "search"]));
  await service.end("SIGTERM");
});

it("the bench knows how many commits of creates run at a time on PostgreSQL", () => {
  expect(countInFlight()).toBePositive();
});

it("the bench gives pgbench each parameter of the statement that creates plants", () => {
  expect(toScript({ plants: 2, clients: 1, start: 7 })).toMatch(/:names\b.+:tags\b.+:words\b.+:keys\b/s);
});

it("the plants that the bench lays into PostgreSQL have what the service would have written with them", async () => {
  const database = await (await sharedCluster()).createDatabase();
  const data = join(temporaryFolder(), "data");
  const flags = ["--data", data, "--database", database];
  await (await startProcess({ data, flags: ["--database", database] })).end("SIGTERM");
  await queryDatabase(database, FILL, [1, 2000]);
  await queryDatabase(database, RENAME, [1000, "xylorhiza planta"]);
  expect((await runCheck(flags)).stdout).toMatch(/^ok +plants +2000\nok +search /m);
});
