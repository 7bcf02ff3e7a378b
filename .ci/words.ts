// Checks the English of what people read: comments, messages, documents, the contract and names of tests.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Words that English has better ones for. */
const BETTER: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bnobody(?!:)\b/i, "no one, no client, or what it is that does not"],
  [/\b(?:some|any|every)body\b/i, "someone, anyone, everyone"],
  [/\bwho(?:so)?ever\b/i, "the client, the operator, anyone who"],
  [/\banew\b/i, "again"],
  [/\bfor ever\b/i, "without limit, never again, permanently"],
  [/\bhardly\b/i, "rarely, barely"],
  [/\bis there twice\b/i, "is duplicated"],
  [/\bforetells?\b/i, "preview, predict"],
];

/** A name must be readable alone, as in the log of a run. */
const HALF_A_SENTENCE =
  /(?:\b(?:it|test)|\))\(\s*["'`](?:that|of|whose|which|who|with|without|and|or|but|in|on|by|for|to|at|as|from|behind|beyond|between) /g;

/** What was written once and stays, this list, and the one that has the user nobody of Unix. */
const EXEMPT = /^CHANGELOG\.md$|^\.ci\/words\.ts$|^test\/support\/postgres\/user\.ts$/;

const { stdout } = spawnSync("git", ["ls-files", "*.ts", "*.tsx", "*.css", "*.md", "*.yaml", "*.html"], { encoding: "utf8" });
const files = stdout.split("\n").filter((file) => file !== "" && !EXEMPT.test(file));
const problems = files.flatMap((file) => [...poorWords(file), ...halfSentences(file)]);
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exitCode = problems.length === 0 && files.length > 0 ? 0 : 1;

function poorWords(file: string): string[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line, at) =>
    BETTER.filter(([word]) => word.test(line)).map(([word, better]) => `${file}:${at + 1}: “${word.exec(line)![0]}”: write ${better}`),
  );
}

function halfSentences(file: string): string[] {
  if (!file.startsWith("test/")) return [];
  const text = readFileSync(file, "utf8");
  return Array.from(
    text.matchAll(HALF_A_SENTENCE),
    ({ index, 0: name }) => `${file}:${text.slice(0, index).split("\n").length}: a name of a test that continues a sentence: ${name}`,
  );
}
