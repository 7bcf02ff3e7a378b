import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { expect } from "bun:test";
import { PROJECT } from "../process.ts";
import { inForm } from "../run-form.ts";

/** They start a service for each of hundreds of cases, or several on one PostgreSQL. */
const ELSEWHERE = ["engine-parity", "export-moment", "model"];

const FILES = inForm(
  ["accept", "plants"].map((name) => `test/interface/${name}.test.ts`),
  globSync("test/interface/*.test.ts", { cwd: PROJECT }).filter((path) => !ELSEWHERE.some((name) => path.includes(name))),
);

/** Runs the tests of the interface against the services that a program starts. */
export function expectInterface(program: string): void {
  const words = ["test", "--timeout", "1800000", ...FILES.map((path) => `./${path}`)];
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd: PROJECT,
    encoding: "utf8",
    // The user of a package must get to the data folders, and only root may pass the folders above many a TMPDIR.
    env: { ...process.env, TEST_PROGRAM: program, TMPDIR: "/tmp" },
  });
  const failed = stderr.split("\n").filter((line) => status !== 0 && !/^\((pass|skip)\)/.test(line));
  expect({ status, failed, passed: Number(/^ *(\d+) pass$/m.exec(stderr)?.[1]) > 100 }).toEqual({ status: 0, failed: [], passed: true });
}
