// Finds edits for tests whose text is not there exactly once, or whose test is gone: rows of test/mutants.ts, and those
// that tests and the bench write down themselves. A run of the night would tell only hours later.
import { existsSync, readFileSync } from "node:fs";
import { MUTANTS } from "../test/mutants.ts";
import { writtenEdits } from "../test/support/written-edits.ts";

const written = writtenEdits();
const rows = MUTANTS.flatMap(({ and = [], ...first }) => [first, ...and].map((edit) => ({ place: "test/mutants.ts", ...edit })));
const faults = [
  ...[...rows, ...written].flatMap(({ place, file, from }) => {
    const times = existsSync(file) ? readFileSync(file, "utf8").split(from).length - 1 : 0;
    return times === 1 ? [] : [`${place}: "${from}" is ${times} times in ${file}.`];
  }),
  ...MUTANTS.flatMap(({ test, name }) => (existsSync(`test/${test}`) ? [] : [`test/mutants.ts: test/${test} is not there ("${name}").`])),
];
process.stdout.write(faults.map((fault) => `${fault}\n`).join(""));
process.exitCode = faults.length === 0 && written.length > 0 ? 0 : 1;
