import { expect, it } from "bun:test";
import { sharedCluster } from "../support/postgres/cluster.ts";
import { startMuffler } from "../support/postgres/muffler.ts";
import { startProcess } from "../support/process.ts";
import { rejectionOf } from "../support/rejection.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

it("refuses a router that drops rows of several statements in one message, with what to do", async () => {
  const server = await sharedCluster();
  const muffler = await startMuffler({ target: server });
  const flags = ["--database", muffler.url(await server.createDatabase())];
  expect(String(await rejectionOf(startProcess({ data: temporaryFolder(), flags })))).toContain(
    "drops what the last of several statements in one message returns: name the server itself, or use another pooler.",
  );
  await muffler.stop();
});
