import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "bun:test";
import manifest from "../../package.json" with { type: "json" };
import { PROJECT } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The names that files in several folders have, and the one thing that each of them names wherever it is. */
const SHARED: Readonly<Record<string, string>> = {
  // Resources and operations: the same name on each floor.
  alerts: "what somebody should know of: the rules in deploy/prometheus",
  "bulk-changes": "many changes of plants in one request",
  commands: "what plant-store does in a terminal",
  config: "the settings in force",
  contract: "contract/openapi.yaml",
  counts: "numbers of plants, and of plants with a tag",
  docs: "the page at /docs, with its script and its style",
  export: "plants as a file",
  health: "whether the service, or a store, can do its work",
  import: "a file of plants that is stored",
  plant: "one plant",
  plants: "the plants and what is done with them",
  session: "who asks, and what they may do",
  settings: "what people may set: its flag, variable and default",
  tags: "tags with the number of their plants",
  tokens: "the tokens and what is done with them",
  transfer: "import and export",
  // Parts that both engines have, or both the service and its client.
  errors: "the errors of the interface",
  failure: "what a failure of an engine means to the store",
  json: "JSON that keeps every digit",
  page: "one page of a list of plants",
  "plant-lists": "pages of plants",
  "plant-statements": "the SQL for plants",
  contents: "all that a store holds, for a backup",
  check: "what is looked at in a store to see whether it is sound",
  restore: "a backup that is put into an empty store",
  postgres: "the store in PostgreSQL",
  query: "the query of a URL",
  requirements: "what a database must be like",
  request: "an HTTP request",
  response: "an HTTP response as bytes",
  retry: "what is tried again, and when",
  schema: "the tables of a store",
  store: "all that is stored",
  "token-statements": "the SQL for tokens",
  upload: "the body of an import",
  // Programs, and what several kinds of tests hold the service to.
  drain: "a stop that answers all requests under way",
  metrics: "what the service, or a store, measures about itself",
  log: "the lines that the service writes",
  main: "where a program starts",
  overload: "more requests than can be answered",
  search: "the search of names",
  service: "the whole service",
  shelf: "tables as people have them",
  growth: "how fast work, or memory, grows with what it is given",
  start: "the start of the service",
  table: "rows and columns",
  journal: "what was done, in order",
  trouble: "a service that cannot be reached, or fails",
};

/** Files that are tests take the name of what they test, so they are a kind of their own. */
function isTest(file: string): boolean {
  return /\.(test|night|release)\.ts$/.test(file);
}

/** By name, without what tells the kind of a file, the folders that have one. */
function foldersByName(files: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const file of files) {
    const name = basename(file).replace(/\..*$/, "");
    folders.set(name, (folders.get(name) ?? new Set()).add(dirname(file)));
  }
  return folders;
}

it("no name of a file names two things", () => {
  const files = [...new Bun.Glob("{src,web,test,bench}/**/*.{ts,tsx,mjs,lua,css,html}").scanSync(PROJECT)].filter(
    (file) => !file.includes("node_modules/"),
  );
  const kinds = [files.filter(isTest), files.filter((file) => !isTest(file))].map(foldersByName);
  // In one folder, files of one name are parts of one thing: a component and its style.
  const shared = kinds.flatMap((folders) => [...folders].filter(([, where]) => where.size > 1).map(([name]) => name));
  expect([...new Set(shared)].toSorted()).toEqual(Object.keys(SHARED).toSorted());
});

/** The types that several files of src/ and web/ export, and the one thing that each of them is wherever it is. */
const SHARED_TYPES: Readonly<Record<string, string>> = {
  // The client is published without the service, so it has types of its own for the same things.
  FileFormat: "CSV or NDJSON",
  ImportOptions: "how to import",
  ImportSummary: "what happened to the lines of a file",
  ListQuery: "which plants to list",
  Page: "one page of a list of plants",
  PlantCount: "a number of plants, and whether it is exact",
  Scope: "what a token may do",
  TagCount: "a tag with the number of its plants",
  Token: "a token without its secret",
  // Both engines, or the service and its page.
  Health: "whether the store can do its work",
  Operation: "an operation of the contract",
  PlantRow: "a plant as a database returns it",
  Plants: "the plants of a store",
};

it("no name of an exported type names two things", () => {
  const files = [...new Bun.Glob("{src,web}/**/*.{ts,tsx}").scanSync(PROJECT)];
  const names = files.flatMap((file) => {
    const text = readFileSync(join(PROJECT, file), "utf8");
    return Array.from(text.matchAll(/^export (?:abstract )?(?:type|interface|class) (\w+)/gm), ([, name = ""]) => name);
  });
  const shared = names.filter((name, at) => names.indexOf(name) !== at);
  expect([...new Set(shared)].toSorted()).toEqual(Object.keys(SHARED_TYPES).toSorted());
});

it("test/README.md says of every folder with tests what is tested there", () => {
  const folders = [...new Bun.Glob("test/*/*.{test,night,release}.ts").scanSync(PROJECT)].map((file) => basename(dirname(file)));
  const table = readFileSync(join(PROJECT, "test/README.md"), "utf8").matchAll(/^\| `([a-z]+)` +\|/gm);
  expect(Array.from(table, ([, folder = ""]) => folder).toSorted()).toEqual([...new Set(folders)].toSorted());
});

type Packages = Readonly<Record<string, { engines?: { node?: string } }>>;

/** The Node that each part of our range begins with, and one that is yet to come. */
const VERSIONS = [...Array.from(manifest.engines.node.matchAll(/\d+\.\d+\.\d+/g), ([version]) => version), "99.0.0"];

it("every package runs on each Node that package.json names, so that npm ci has nothing to warn of", () => {
  const { packages } = JSON.parse(readFileSync(join(PROJECT, "package-lock.json"), "utf8")) as { packages: Packages };
  expect(VERSIONS.length).toBeGreaterThan(1);
  const strangers = Object.entries(packages).flatMap(([name, { engines }]) =>
    VERSIONS.filter((version) => engines?.node !== undefined && !Bun.semver.satisfies(version, engines.node)).map(
      (version) => `${name} does not support Node ${version}`,
    ),
  );
  expect(strangers).toEqual([]);
});

const FOLDERS = ["src", "src/client", "src/http", "src/files", "src/domain", "web", "web/import", "packages/client"];
const CALLS = ['"a".normalize("NFC")', '"a"["normalize"]("NFC")', "(({ normalize }: string) => normalize)('a')"];

it("the linter refuses each call that normalizes text, in each folder of the service, the page and the client", () => {
  const root = temporaryFolder();
  copyFileSync(join(PROJECT, ".oxlintrc.json"), join(root, ".oxlintrc.json"));
  for (const folder of FOLDERS) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, "a.ts"), CALLS.map((call, at) => `export const a${at} = ${call};\n`).join(""));
  }
  const { stdout } = spawnSync(join(PROJECT, "node_modules/.bin/oxlint"), ["--format=unix", "."], { cwd: root, encoding: "utf8" });
  const refused = stdout.split("\n").filter((line) => line.includes("'normalize' is restricted"));
  const places = refused.map((line) => line.replace(/^(.*?\.ts:\d+):.*$/, "$1"));
  expect(places.toSorted()).toEqual(FOLDERS.flatMap((folder) => CALLS.map((_, at) => `${folder}/a.ts:${at + 1}`)).toSorted());
});

/** A limit of the service, as it is in a process that a test starts. */
function limitWith(patience: string): number {
  const script = 'console.log((await import("./src/store/postgres/engine/pool.ts")).SERVER_MS_MAX)';
  const words = ["--preload", join(PROJECT, "test/support/stretched.ts"), "-e", script];
  const { stdout } = spawnSync(process.execPath, words, {
    cwd: PROJECT,
    env: { ...process.env, TEST_PATIENCE: patience },
    encoding: "utf8",
  });
  return Number(stdout);
}

it("the limits of a service are longer by the patience of the tests, and as they are on a machine without other load", () => {
  expect([limitWith("1"), limitWith("3")]).toEqual([3500, 10_500]);
});

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

/** All files below test/, with their text. */
const TESTS = [...new Bun.Glob("test/**/*.ts").scanSync(PROJECT)]
  .filter((path) => !path.includes("node_modules"))
  .map((path) => ({ path, text: readFileSync(join(PROJECT, path), "utf8") }));

it("a test asks for each program that Debian does not have from the start, by findProgram or needs", () => {
  const started = TESTS.flatMap(({ path, text }) => Array.from(text.matchAll(STARTED), ([, name = ""]) => ({ path, text, name })));
  const undeclared = started.filter(({ text, name }) => !BASE.test(name) && !text.includes(`needs("${name}")`));
  expect(undeclared.map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
  expect(started.length).toBeGreaterThan(20);
});

it("no test has a limit of its own, which a busy machine would exceed: support/setup.ts has the one for all", () => {
  expect(TESTS.filter(({ text }) => /^ *(\}|.*\)), [\d_]{5,}\);$/m.test(text)).map(({ path }) => path)).toEqual([]);
});
