// Finds rows of test/mutants.ts whose text or test is gone: the night's run would tell only hours later.
import { existsSync, readFileSync } from "node:fs";
import { MUTANTS } from "../test/mutants.ts";

const faults = MUTANTS.flatMap(({ test, name, and = [], ...first }) => [
  ...[first, ...and].flatMap(({ file, from }) => {
    const times = existsSync(file) ? readFileSync(file, "utf8").split(from).length - 1 : 0;
    return times === 1 ? [] : [`"${from}" is ${times} times in ${file}`];
  }),
  ...(existsSync(`test/${test}`) ? [] : [`test/${test} is not there ("${name}")`]),
]);
process.stdout.write(faults.map((fault) => `test/mutants.ts: ${fault}.\n`).join(""));
process.exitCode = faults.length === 0 ? 0 : 1;
