import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";
import { sharedCluster } from "../support/postgres/cluster.ts";

/** Those of the change gate that know of a service only what a client knows. */
const FILES = [
  "interface/accept",
  "interface/bulk-changes",
  "interface/changes",
  "interface/counts",
  "interface/import",
  "interface/import-csv",
  "interface/import-ndjson",
  "interface/listing",
  "interface/operations",
  "interface/plant-size",
  "interface/plants",
  "interface/search",
  "interface/sorting",
  "tokens/revocation",
  "tokens/session",
  "tokens/states",
  "tokens/tokens-api",
];

it.each(FILES)("the same tests pass on PostgreSQL: %s", async (name) => {
  const env = { ...process.env, TEST_ENGINE: "PostgreSQL", PLANT_STORE_TEST_POSTGRES: (await sharedCluster()).url() };
  const child = spawn(process.execPath, ["test", `./test/${name}.test.ts`], { cwd: PROJECT, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [status] = (await once(child, "close")) as [number | null];
  expect(status === 0 ? "passed" : output).toBe("passed");
});
