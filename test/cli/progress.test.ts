import { spawnSync } from "node:child_process";
import { describe, expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";

/** What is told without a terminal after a second in which so much of 2 MB was read. */
function toldAfter(bytes: number): string {
  const code = `
    import { showProgress } from "./src/cli/progress.ts";
    const progress = showProgress("plants.csv", 2e6);
    progress.count(${bytes});
    setTimeout(() => progress.stop(), 1200);`;
  return spawnSync(process.execPath, ["-e", code], { cwd: PROJECT, encoding: "utf8" }).stderr;
}

describe("the progress of a command", () => {
  it("tells no time that it cannot know yet", () => {
    expect(toldAfter(1e6)).toMatch(/^plants\.csv {2}1\.0 MB of 2\.0 MB, [\d.]+ [kM]B a second\n/);
  });

  it("tells the time of work that it cannot tell in bytes", () => {
    expect(toldAfter(0)).toMatch(/^plants\.csv {2}[1-9]\d* s\n/);
  });

  it("says that it is finishing once all is read, and not that no second is left", () => {
    expect(toldAfter(2e6)).toMatch(/^plants\.csv {2}2\.0 MB of 2\.0 MB, [\d.]+ MB a second, finishing\n/);
  });
});
