// Finds edits for tests whose text is not there exactly once, or whose test is gone: rows of test/mutants.ts, and those
// that tests and the bench write down themselves. A run of the night would tell only hours later.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { MUTANTS } from "../test/mutants.ts";

/** An edit in the text of a test, unless its file or text is in a variable. */
const WRITTEN = /\bfile:\s*"([^"]+)",\s*from:\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`$\\]|\\.)*`)/g;

const { stdout } = spawnSync("git", ["ls-files", "test/*.ts", "bench/*.ts"], { encoding: "utf8" });
const written = stdout
  .split("\n")
  .filter((file) => existsSync(file) && file !== "test/mutants.ts")
  .flatMap((place) =>
    Array.from(readFileSync(place, "utf8").matchAll(WRITTEN), ([, file = "", literal = ""]) => ({ place, file, from: textOf(literal) })),
  );
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

/** What a literal means: JSON, but for its quotes and line ends. */
function textOf(literal: string): string {
  if (literal.startsWith('"')) return JSON.parse(literal) as string;
  const inside = literal.slice(1, -1).replaceAll(/\\([`'])/g, "$1");
  return JSON.parse(`"${inside.replaceAll('"', String.raw`\"`).replaceAll("\n", String.raw`\n`)}"`) as string;
}
