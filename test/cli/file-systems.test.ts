import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "bun:test";
import { runCommand } from "../support/process.ts";
import { findProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const CSV = join(import.meta.dir, "../../examples/plants.csv");

async function makeStore(): Promise<string> {
  const data = join(temporaryFolder(), "data");
  await runCommand(["import", CSV, "--data", data]);
  return data;
}

/** Runs a command whose calls, on these paths or on any, are answered as another file system would. */
function runOn(words: readonly string[], answers: readonly string[], paths: readonly string[] = []) {
  const flags = [...paths.flatMap((path) => ["-P", path]), ...answers.flatMap((answer) => ["-e", `inject=${answer}`])];
  return runCommand(words, { under: [findProgram("strace"), "-D", "-f", "-qq", "-o", "/dev/null", ...flags] });
}


describe("a backup", () => {
  for (const { where, answer, isOnFolder } of [
    { where: "on a file system without links", answer: "link,linkat:error=EINVAL", isOnFolder: false },
    { where: "on a file system that cannot sync a folder", answer: "fsync:error=EINVAL", isOnFolder: true },
  ])
    it(`${where} is written`, async () => {
      const [data, folder] = [await makeStore(), temporaryFolder()];
      const { status, stderr } = await runOn(["backup", folder, "--data", data], [answer], isOnFolder ? [folder] : []);
      expect([status, stderr]).toEqual([0, ""]);
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/^plant-store-.*Z\.gz$/)]);
    });

  it("in a folder whose disk fails is not", async () => {
    const [data, folder] = [await makeStore(), temporaryFolder()];
    const { status, stderr } = await runOn(["backup", folder, "--data", data], ["fsync:error=EIO"], [folder]);
    expect([status, stderr]).toEqual([1, `plant-store: ${folder} cannot be synced (the disk had an I/O error): check its disk.\n`]);
  });
});
