import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "bun:test";
import manifest from "../../package.json" with { type: "json" };
import { PROJECT } from "../support/process.ts";

it("test/README.md says of every folder with tests what is tested there", () => {
  const folders = [...new Bun.Glob("test/*/*.{test,night,release}.ts").scanSync(PROJECT)].map((file) => basename(dirname(file)));
  const listed = readFileSync(join(PROJECT, "test/README.md"), "utf8").matchAll(/^- `([a-z]+)`: /gm);
  expect(Array.from(listed, ([, folder = ""]) => folder).toSorted()).toEqual([...new Set(folders)].toSorted());
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

/** What Debian has without any package of its own choice, and npm. */
const BASE = /^(bash|bun|cp|dpkg-deb|ipcrm|mkfifo|mkfs\.ext4|mount|node|npm|script|setpriv|setsid|sh|sha256sum|tar|umount|unshare)$/;

const STARTED = /\b(?:spawn|spawnSync|execFile|execFileSync)\(\[?"([\w.-]+)"/g;

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
