import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "bun:test";
import { PROJECT } from "../support/process.ts";

/** A bug that a test or a measurement plants: a file, and the text in it that is replaced. */
const BUG = /file: "([^"]+)",\s+from: ("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/g;

// The test itself would tell too, though only at the end of a long run.
it("each text that a test or a measurement replaces to plant a bug is in its file once", () => {
  const missing: string[] = [];
  let bugs = 0;
  for (const path of new Bun.Glob("{test,bench}/**/*.ts").scanSync(PROJECT)) {
    if (path.includes("node_modules")) continue;
    for (const [, file = "", quoted = ""] of readFileSync(join(PROJECT, path), "utf8").matchAll(BUG)) {
      const from = quoted.slice(1, -1).replace(/\\(.)/gs, (_, letter: string) => (letter === "n" ? "\n" : letter));
      const times = readFileSync(join(PROJECT, file), "utf8").split(from).length - 1;
      if (times !== 1) missing.push(`${path}: "${from}" is ${times} times in ${file}`);
      bugs += 1;
    }
  }
  expect(missing).toEqual([]);
  expect(bugs).toBeGreaterThan(100);
});
