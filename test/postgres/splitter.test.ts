import { afterAll, beforeAll, expect, it } from "bun:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plantBugs } from "../support/plant-bugs.ts";
import { startProcess } from "../support/process.ts";
import { rejectionOf } from "../support/rejection.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { startSplitter } from "../support/postgres/splitter.ts";

const TRUST_THE_READER = [{ file: "src/store/postgres/engine/database-connection.ts", from: "checkReader(reader!);", to: "void reader;" }];

let splitter: Awaited<ReturnType<typeof startSplitter>>;
let database: string;

beforeAll(async () => {
  const primary = await startCluster();
  const standby = await primary.addStandby();
  // Without it, what the second test starts may miss on the standby what it has just made.
  await primary.query("ALTER SYSTEM SET synchronous_commit = remote_apply");
  await primary.query("SELECT pg_reload_conf()");
  splitter = await startSplitter({ primary, standby });
  database = splitter.url(await primary.createDatabase());
});
afterAll(() => splitter.stop());

function start(root?: string) {
  return startProcess({ data: temporaryFolder(), flags: ["--database", database], ...(root === undefined ? {} : { root }) });
}

it("refuses a pooler that sends reads to a standby, with what to change", async () => {
  expect(String(await rejectionOf(start()))).toContain(
    "sends reads to a standby, which may not have yet what was answered: switch that off",
  );
});

it("would visibly start if it believed what a pooler asks the primary", async () => {
  const service = await start(plantBugs(TRUST_THE_READER));
  await service.end("SIGKILL");
});
