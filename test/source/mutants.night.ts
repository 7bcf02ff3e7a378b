import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, setDefaultTimeout } from "bun:test";
import { MUTANTS } from "../mutants.ts";
import type { Edit, Mutant } from "../mutants.ts";
import { PROJECT } from "../support/process.ts";
import { ALONE } from "../support/run-form.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writtenEdits } from "../support/written-edits.ts";

/** How many tests run at a time, each in a copy of its own. */
const COPIES = 4;
/** A mutant may make a test wait forever, which notices it too. */
const MS_MAX = 4 * 60_000;
// The first one that measures waits for all others.
setDefaultTimeout(60 * 60_000);
/** What a page or the client is made of. */
const PAGE = /^(?:web|src\/(?:client|files|domain|runtime))\//;

const NOT_COPIED = new Set([".git", "node_modules", "dist"]);

type Run = Readonly<{ status: number | null; output: string }>;
type Task = Readonly<{
  edits: readonly Edit[];
  test: string;
  names: readonly string[];
  settle: (run: Run) => void;
  fail: (reason: unknown) => void;
}>;

/** What TypeScript says of a name or a property that is not there. Edits may break other types on purpose. */
const MISSING_NAME = /^.*error TS(?:2304|2339|2551|2552|2663):.*$/gm;

/** Those whose tests measure come after all others, one at a time. */
const [tasks, measuring]: [Task[], Task[]] = [[], []];
const byTest = Map.groupBy(MUTANTS, ({ test }) => test);
const untouched = [...byTest].map(([test, mutants]) => ({ test, run: plan(test, [...new Set(mutants.map(({ name }) => name))], []) }));
const mutated = MUTANTS.map((mutant) => ({ mutant, run: plan(mutant.test, [mutant.name], editsOf(mutant)) }));
const copies = Array.from({ length: COPIES }, copyProject);

// A test that fails for a ReferenceError shows nothing of the promise.
it("every edit uses names that are there", () => {
  const root = copyProject();
  const missing = groups().flatMap((edits) => {
    const restore = edit(root, edits);
    const found = [".", "web"].flatMap((project) => typeErrors(join(root, project)).match(MISSING_NAME) ?? []);
    restore();
    return found;
  });
  void Promise.all(copies.map((copy) => work(copy, tasks))).then(() => work(copies[0]!, measuring));
  expect(missing).toEqual([]);
});

describe("without an edit, the tests that must notice one pass", () => {
  for (const { test, run } of untouched)
    it(test, async () => {
      const { status, output } = await run;
      expect(status === 0 ? "passed" : output).toBe("passed");
    });
});

describe("a test notices each edit", () => {
  for (const [at, { mutant, run }] of mutated.entries())
    it(`${at + 1}: ${titleOf(mutant)}`, async () => {
      const { status, output } = await run;
      const isNoticed = status === null || /^\(fail\) .*$/m.test(output);
      expect(isNoticed ? "noticed" : output).toBe("noticed");
    });
});

function titleOf({ test, name, file, to }: Mutant): string {
  return `${test} "${name}" notices ${to === "" ? "what is missing" : to.slice(0, 60).replaceAll("\n", " ")} in ${file}`;
}

function editsOf(mutant: Mutant): readonly Edit[] {
  return [mutant, ...(mutant.and ?? [])];
}

/** As few groups as can be of the edits of mutants, and of those that tests write down: each of different files. */
function groups(): Edit[][] {
  const found: Edit[][] = [];
  for (const edits of [...MUTANTS.map(editsOf), ...writtenEdits().map((one) => [one])]) {
    const files = new Set(edits.map(({ file }) => file));
    const group = found.find((others) => others.every(({ file }) => !files.has(file)));
    if (group) group.push(...edits);
    else found.push([...edits]);
  }
  return found;
}

function typeErrors(project: string): string {
  const { stdout, error } = spawnSync(join(PROJECT, "node_modules/.bin/tsc"), ["-p", project], { encoding: "utf8" });
  if (error) throw error;
  return stdout;
}

/** Queues the tests of these names in a copy with these edits. */
function plan(test: string, names: readonly string[], edits: readonly Edit[]): Promise<Run> {
  const { promise, resolve, reject } = Promise.withResolvers<Run>();
  promise.catch(() => {});
  (ALONE.includes(test) ? measuring : tasks).push({ edits, test, names, settle: resolve, fail: reject });
  return promise;
}

async function work(root: string, queue: Task[]): Promise<void> {
  for (let task = queue.shift(); task; task = queue.shift()) {
    try {
      const restore = edit(root, task.edits);
      task.settle(await runTests(root, task));
      restore();
    } catch (reason) {
      task.fail(reason);
    }
  }
}

/** The files of the project as they are, without what is installed or built. */
function copyProject(): string {
  const root = temporaryFolder();
  const names = readdirSync(PROJECT).filter((name) => !NOT_COPIED.has(name));
  for (const name of names)
    cpSync(join(PROJECT, name), join(root, name), { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
  symlinkSync(join(PROJECT, "node_modules"), join(root, "node_modules"));
  return root;
}

/** Returns what takes the edits back. */
function edit(root: string, edits: readonly Edit[]): () => void {
  const before = new Map(edits.map(({ file }) => [file, readFileSync(join(root, file), "utf8")]));
  const after = new Map(before);
  for (const { file, from, to } of edits) after.set(file, after.get(file)!.split(from).join(to));
  for (const [file, text] of after) writeFileSync(join(root, file), text);
  return () => {
    for (const [file, text] of before) writeFileSync(join(root, file), text);
  };
}

/** The status is null when the tests did not end in time. */
async function runTests(root: string, { edits, test, names }: Task): Promise<Run> {
  // The executable of this run is made of the source without the edits, and so is its page.
  const { PLANT_STORE_TEST_EXECUTABLE: _, PLANT_STORE_TEST_PAGE: page, ...environment } = process.env;
  const isPage = edits.some(({ file }) => PAGE.test(file));
  const pattern = names.map((name) => RegExp.escape(name)).join("|");
  const child = spawn(process.execPath, ["test", `./test/${test}`, "-t", pattern], {
    cwd: root,
    env: isPage || page === undefined ? environment : { ...environment, PLANT_STORE_TEST_PAGE: page },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const limit = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), MS_MAX);
  const [status] = (await once(child, "close")) as [number | null];
  clearTimeout(limit);
  return { status, output };
}
