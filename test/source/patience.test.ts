import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";

/** A limit of the service, as it is in a process that a test starts. */
function limitWith(patience: string): number {
  const script = 'console.log((await import("./src/store/postgres/engine/pool.ts")).SERVER_MS_MAX)';
  const words = ["--preload", join(PROJECT, "test/support/stretched.ts"), "-e", script];
  const { stdout } = spawnSync(process.execPath, words, {
    cwd: PROJECT,
    env: { ...process.env, TEST_PATIENCE: patience },
    encoding: "utf8",
  });
  return Number(stdout);
}

it("the limits of a service are longer by the patience of the tests, and as they are on a machine without other load", () => {
  expect([limitWith("1"), limitWith("3")]).toEqual([3500, 10_500]);
});
