import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";

/** What Debian has without any package of its own choice, and npm. */
const BASE = /^(bash|bun|cp|dpkg-deb|ipcrm|mkfifo|mkfs\.ext4|mount|node|npm|script|setpriv|setsid|sh|sha256sum|tar|umount|unshare)$/;

const STARTED = /\b(?:spawn|spawnSync|execFile|execFileSync)\(\[?"([\w.-]+)"/g;

/** How a run of a file ends whose tests need mandoc, where there is no program at all. */
function runWithoutPrograms(environment: Readonly<Record<string, string>>) {
  const { status, stdout } = spawnSync(process.execPath, [join(PROJECT, "test/main.ts"), "cli/manual.night.ts"], {
    cwd: PROJECT,
    env: { HOME: process.env["HOME"], PATH: dirname(process.execPath), ...environment },
    encoding: "utf8",
  });
  return { status, end: stdout.trimEnd().split("\n").slice(1) };
}

describe("tests that need a program that is missing", () => {
  const skipped = ["  3 need mandoc", "To run them: apt-get install mandoc"];

  it("are skipped, and the run ends with how many, what they need and how to install it", () => {
    expect(runWithoutPrograms({ CI: "" })).toEqual({
      status: 0,
      end: ["Skipped tests:", ...skipped, "1 tests passed, 0 failed, 3 skipped"],
    });
  });

  it("fail in CI", () => {
    const end = ["Skipped tests, which fail here as CI is true:", ...skipped, "1 tests passed, 3 failed"];
    expect(runWithoutPrograms({ CI: "true" })).toEqual({ status: 1, end });
  });
});

it("a test asks for each program that Debian does not have from the start, by findProgram or needs", () => {
  const undeclared: string[] = [];
  let started = 0;
  for (const path of new Bun.Glob("test/**/*.ts").scanSync(PROJECT)) {
    if (path.includes("node_modules")) continue;
    const text = readFileSync(join(PROJECT, path), "utf8");
    for (const [, name = ""] of text.matchAll(STARTED)) {
      started += 1;
      if (!BASE.test(name) && !text.includes(`needs("${name}")`)) undeclared.push(`${path}: ${name}`);
    }
  }
  expect(undeclared).toEqual([]);
  expect(started).toBeGreaterThan(20);
});

it("no test has a limit of its own, which a busy machine would exceed: support/setup.ts has the one for all", () => {
  const limited: string[] = [];
  for (const path of new Bun.Glob("test/**/*.ts").scanSync(PROJECT))
    if (!path.includes("node_modules") && /^ *(\}|.*\)), [\d_]{5,}\);$/m.test(readFileSync(join(PROJECT, path), "utf8")))
      limited.push(path);
  expect(limited).toEqual([]);
});
