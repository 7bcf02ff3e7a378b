// Checks every Markdown file of the project: no line is longer than 120 characters, every relative link leads to a file, and to a heading in
// it, every file of ours that is named as `name.ts` is there, and the gate of a promise is that of its tests. Code blocks are skipped, and so is a line that cannot be wrapped, such as a row of a table.
// `bun .ci/markdown.ts` checks the project, with arguments those files.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const LINE_MAX = 120;

/** What a reader writes, and what was there once. */
const OF_OTHER_FILES = /(?:^|\/)(?:docs\/tutorial\/.*|CHANGELOG)\.md$/;

const files = process.argv.length > 2 ? process.argv.slice(2) : filesOfGit("*.md");
const sources = filesOfGit("*.ts", "*.tsx").map((file) => `/${file}`);
const problems = files.flatMap((file) => [...longLines(file), ...brokenLinks(file), ...missingFiles(file), ...wrongGates(file)]);
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (files.length === 0) process.stdout.write("There are no Markdown files to check.\n");
process.exitCode = problems.length === 0 && files.length > 0 ? 0 : 1;

/** What Git has or would add, so that nothing of a dependency is checked, and a new file is. */
function filesOfGit(...patterns: readonly string[]): string[] {
  const { stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns], { encoding: "utf8" });
  return stdout.split("\n").filter((file) => file !== "" && existsSync(file));
}

function longLines(file: string): string[] {
  return proseOf(file).flatMap((line, at) => {
    const isWrappable = !line.startsWith("|") && /\S\s+\S/.test(line.trim().replace(/^(?:[-*>]|\d+\.|\[[^\]]+\]:)\s+/, ""));
    return line.length > LINE_MAX && isWrappable ? [`${file}:${at + 1}: ${line.length} characters, of ${LINE_MAX} at most`] : [];
  });
}

function brokenLinks(file: string): string[] {
  // A link may be broken over two lines, in its text only.
  const text = proseOf(file)
    .join("\n")
    .replaceAll(/`[^`\n]*`/g, "");
  return Array.from(text.matchAll(/\]\(([^()\s]+)\)/g), ([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .flatMap((target) => {
      const [path = "", heading] = target.split("#");
      const found = path === "" ? file : join(dirname(file), path);
      if (!existsSync(found)) return [`${file}: the link to ${target} leads nowhere: there is no ${relative(".", found)}`];
      if (heading === undefined || headingsOf(found).includes(heading)) return [];
      return [`${file}: the link to ${target} leads to no heading of ${relative(".", found)}`];
    });
}

/** The names of our files that none of them has: a file was renamed, and this document still has the old name. */
function missingFiles(file: string): string[] {
  if (OF_OTHER_FILES.test(file)) return [];
  const named = Array.from(
    proseOf(file)
      .join("\n")
      .matchAll(/`([\w./-]+\.tsx?)`/g),
    ([, name = ""]) => name,
  );
  return named.filter((name) => !sources.some((source) => source.endsWith(`/${name}`))).map((name) => `${file}: there is no file ${name}`);
}

/** The rows of promises whose second cell names other gates than the ends of the names of their tests do. */
function wrongGates(file: string): string[] {
  return proseOf(file).flatMap((line) => {
    const [, promise = "", gates = "", tests = ""] = /^\| (.+?) +\| ((?:change|night|release)[a-z, ]*?) +\| (.+?) +\|/.exec(line) ?? [];
    if (promise === "") return [];
    const linked = Array.from(tests.matchAll(/\]\(([^()]+)\)/g), ([, target = ""]) => gateOf(target));
    const expected = ["change", "night", "release"].filter((gate) => linked.includes(gate)).join(", ");
    return gates === expected ? [] : [`${file}: the gate of “${promise}” is ${expected}, not ${gates}`];
  });
}

/** Suites of a release are run by its tests. */
function gateOf(test: string): string {
  if (test.endsWith(".release.ts") || test.includes("/release/")) return "release";
  return test.endsWith(".night.ts") ? "night" : "change";
}

/** The anchors of a file, as GitHub makes them. */
function headingsOf(file: string): string[] {
  const titles = proseOf(file).flatMap((line) => /^#{1,6} (.*)$/.exec(line)?.[1] ?? []);
  return titles.map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The lines of a file, those of code blocks empty. */
function proseOf(file: string): string[] {
  let fence: string | undefined;
  return readFileSync(file, "utf8")
    .split("\n")
    .map((line) => {
      const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
      if (mark !== undefined && (fence === undefined || line.trim() === fence)) {
        fence = fence === undefined ? mark : undefined;
        return "";
      }
      return fence === undefined ? line : "";
    });
}
