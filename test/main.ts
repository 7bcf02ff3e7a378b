// Runs test files side by side, each in a process of its own. The end of a file's name is its gate: `npm test` runs
// *.test.ts, `npm run test:night` *.night.ts, `npm run test:release` *.release.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { buildExecutable } from "../deploy/executable.ts";
import { findBinaries } from "./support/postgres/binaries.ts";
import PACKAGES from "./support/programs.json" with { type: "json" };
import { PATIENCE } from "./support/patience.ts";
import { sharedCluster, stopClusters } from "./support/postgres/cluster.ts";
import { PROJECT } from "./support/process.ts";
import { ALONE, FORM } from "./support/run-form.ts";
import { builtPage } from "./support/web/built-page.ts";
import { removeTemporaryFolders, temporaryFolder } from "./support/temporary-folder.ts";

const HELP = `Usage: npm test -- [options] [NAME...]
       npm run test:night -- [options] [NAME...]
       npm run test:release -- [options] [NAME...]

A NAME is a part of a path, such as search or test/http/; npm test finds it at every gate. Without one, all files of the
gate run: npm test before each commit, the night before an issue is done, the release before a release.

  --long            the long form of tests under faults: two hours instead of minutes
  --seed NUMBER     repeat a run with the seed that it printed
  --workers NUMBER  how many files run at a time (two for each processor, and one)
  --help            this text
`;

/** The folders with the longest tests begin first, so that none is left running by itself at the end. */
const FIRST = ["release", "resilience", "postgres", "client", "web", "cli", "store"];

/** Ends a file that hangs where the limit of a test does not reach, such as in a call to the browser. */
const FILE_MS_MAX = { short: 60 * 60_000, long: 3 * 3_600_000 };

/** Here each program must be there: a skip is a failure. */
const IS_CI = process.env["CI"] === "true";

/** The end of the name of a skipped test (support/program.ts). */
const NEEDED = /\[needs ([^\]]+)\]/;
/** Bun lists the hooks of skipped tests like tests. */
const HOOK = " > (unnamed)";

/** Of the reason why a test failed. */
const REASON_LINES_MAX = 40;
const REASON_CHARACTERS_MAX = 1000;

type Options = Readonly<{ paths: readonly string[]; environment: NodeJS.ProcessEnv; workers: number }>;
/**
 * `trouble` is what failed and why, for the end of a long log: of that, often only the end is kept. `skipped` has for
 * each skipped test what it needs.
 */
type Outcome = Readonly<{ passed: number; failed: number; skipped: readonly string[]; trouble: string }>;

try {
  const options = parseOptions();
  if (options) await run(options);
  else process.stdout.write(HELP);
} catch (reason) {
  process.stderr.write(`test: ${reason instanceof Error ? reason.message : String(reason)}\n`);
  process.exitCode = 1;
}

/** Undefined when the user asked for help. */
function parseOptions(): Options | undefined {
  const { values, positionals } = parseArgs({
    options: {
      gate: { type: "string", default: "test" },
      long: { type: "boolean", default: false },
      seed: { type: "string" },
      workers: { type: "string", default: String(2 * availableParallelism() + 1) },
      help: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  if (values.help) return undefined;
  if (values.seed !== undefined && !/^\d{1,10}$/.test(values.seed)) throw new Error("--seed takes a whole number.");
  if (!/^[1-9]\d?$/.test(values.workers)) throw new Error("--workers takes a whole number from 1 to 99.");
  const lost = ALONE.filter((name) => !existsSync(join(PROJECT, "test", name)));
  if (lost.length > 0) throw new Error(`test/support/run-form.ts names ${lost.join(" and ")}, which is not there.`);
  const gates = positionals.length > 0 && values.gate === "test" ? "{test,night,release}" : values.gate;
  // In the night these run again, in a form that is not as short.
  const again = values.gate === "night" ? ["test/resilience/*.test.ts"] : [];
  const all = globSync([`test/*/*.${gates}.ts`, ...again], { cwd: PROJECT }).toSorted();
  const strange = positionals.filter((name) => !all.some((path) => path.includes(name)));
  if (strange.length > 0) throw new Error(`No test file has ${strange.join(" or ")} in its path.`);
  return {
    paths: all.filter((path) => positionals.length === 0 || positionals.some((name) => path.includes(name))),
    environment: {
      ...process.env,
      [FORM]: values.long ? "long" : values.gate === "night" ? "night" : "change",
      ...(values.seed === undefined ? {} : { TEST_SEED: values.seed }),
    },
    workers: Number(values.workers),
  };
}

async function run({ paths, environment, workers }: Options): Promise<void> {
  if (PATIENCE > 1)
    process.stderr.write(`Other programs keep this machine busy: limits of time are ${PATIENCE.toFixed(1)} times as long.\n`);
  const alone = paths.filter((path) => ALONE.includes(nameOf(path)));
  const together = paths.filter((path) => !alone.includes(path)).toSorted((a, b) => rankOf(a) - rankOf(b));
  const shared = paths.length === 1 ? environment : { ...environment, ...(await startShared()) };
  const outcomes: Outcome[] = [];

  async function work(queue: string[]): Promise<void> {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) outcomes.push(await runFile(path, shared));
  }
  try {
    await Promise.all(Array.from({ length: workers }, () => work(together)));
    await work(alone);
  } finally {
    await stopClusters();
    removeTemporaryFolders();
  }
  const sum = (name: "passed" | "failed") => outcomes.reduce((total, one) => total + one[name], 0);
  const skipped = outcomes.flatMap((one) => one.skipped);
  const failed = sum("failed") + (IS_CI ? skipped.length : 0);
  const end = skipped.length > 0 && !IS_CI ? `, ${skipped.length} skipped` : "";
  process.stdout.write(
    `${outcomes.map((one) => one.trouble).join("")}${reportSkipped(skipped)}${sum("passed")} tests passed, ${failed} failed${end}\n`,
  );
  if (failed > 0) process.exitCode = 1;
}

/** What was not tested, and how to test it. */
function reportSkipped(skipped: readonly string[]): string {
  if (skipped.length === 0) return "";
  const counts = Object.entries(Object.groupBy(skipped, (needed) => needed)).map(
    ([needed, tests = []]) => `  ${tests.length} need ${needed}\n`,
  );
  const packages = skipped.flatMap((needed) => needed.split(", ")).map((name) => PACKAGES[name as keyof typeof PACKAGES]);
  const missing = [...new Set(packages)].filter((name) => name !== undefined).toSorted();
  const todo = missing.length === 0 ? "" : `To run them: apt-get install ${missing.join(" ")}\n`;
  return `${IS_CI ? "Skipped tests, which fail here as CI is true" : "Skipped tests"}:\n${counts.toSorted().join("")}${todo}`;
}

/** The path below this folder. */
function nameOf(path: string): string {
  return path.slice("test/".length);
}

function rankOf(path: string): number {
  const at = FIRST.indexOf(nameOf(path).split("/")[0]!);
  return at === -1 ? FIRST.length : at;
}

/** One PostgreSQL, one page and one executable for all files, and the programs of PostgreSQL for those that start their own. */
async function startShared(): Promise<NodeJS.ProcessEnv> {
  const folder = temporaryFolder();
  // Some tests run it as another user.
  chmodSync(folder, 0o755);
  const executable = join(folder, "plant-store");
  const [cluster, page] = await Promise.all([sharedCluster(), builtPage(), buildExecutable(executable)]);
  const path = `${findBinaries()}${delimiter}${process.env["PATH"]}`;
  return {
    PLANT_STORE_TEST_POSTGRES: cluster.url(),
    PLANT_STORE_TEST_PAGE: page,
    PLANT_STORE_TEST_EXECUTABLE: executable,
    PATH: path,
  };
}

/** Shows all that a file says when a test of it failed, and else its seeds and figures. A file that ends otherwise, or runs no test, has failed too. */
async function runFile(path: string, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const started = performance.now();
  const child = spawn(process.execPath, ["test", `./${path}`], {
    cwd: PROJECT,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: environment[FORM] === "long" ? FILE_MS_MAX.long : FILE_MS_MAX.short,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const [status, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  const count = (what: string) => Number(new RegExp(`^ *(\\d+) ${what}$`, "m").exec(output)?.[1] ?? 0);
  const passed = count("pass");
  const skips = Array.from(output.matchAll(/^\(skip\) (.*)$/gm), ([, name]) => name!).filter((name) => !name.endsWith(HOOK));
  const skipped = skips.flatMap((name) => NEEDED.exec(name)?.[1] ?? []);
  const failed = count("fail") + skips.length - skipped.length + count("todo") + count("errors?");
  const isGood = status === 0 && failed === 0 && passed + skipped.length > 0;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const figures = output.split("\n").filter((line) => /^figure: |: seed \d/.test(line));
  const end = isGood
    ? `${passed} passed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`
    : `FAILED: ${passed} passed, ${failed} failed, ended with ${signal ?? status}`;
  process.stdout.write([...(isGood ? figures : [output]), `${path}: ${end} in ${seconds} s\n`].join("\n"));
  if (isGood) return { passed, failed: 0, skipped, trouble: "" };
  return { passed, skipped, failed: Math.max(failed, 1), trouble: [path, ...figures, ...findFailures(output)].join("\n  ") + "\n" };
}

/** What a file said before each test that failed, in which the reason stands, and that test; of none, how the file ended. */
function findFailures(output: string): string[] {
  const failures: string[] = [];
  let said: string[] = [];
  for (const line of output.split("\n")) {
    said.push(line.slice(0, REASON_CHARACTERS_MAX));
    if (line.startsWith("(fail) ")) failures.push(...said.slice(-REASON_LINES_MAX));
    if (/^\((?:pass|fail)\) /.test(line)) said = [];
  }
  return failures.length > 0 ? failures : said.slice(-REASON_LINES_MAX);
}
