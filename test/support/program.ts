import { beforeAll, describe, it } from "bun:test";
import PACKAGES from "./programs.json" with { type: "json" };

/** A program that npm does not bring. `programs.json` names the package of Debian that has it. */
export type Program = keyof typeof PACKAGES;

type Test = (name: string, run: () => void | Promise<unknown>) => void;
type Tests = Readonly<{
  describe(name: string, define: () => void): void;
  it: Test & Readonly<{ concurrent: Test }>;
  /** For a file whose tests all need the same. */
  beforeAll(prepare: () => unknown): void;
}>;

/** Tests that need these programs. Where one is missing they are skipped, and `test/main.ts` reports how many, and what to install. */
export function needs(...programs: readonly Program[]): Tests {
  return testsWithout(programs.filter((name) => !hasProgram(name)));
}

/** Tests that need something other than a program too, such as the right to mount. */
export function needsThat(what: string, isThere: boolean, ...programs: readonly Program[]): Tests {
  return testsWithout([...(isThere ? [] : [what]), ...programs.filter((name) => !hasProgram(name))]);
}

/** The reason is part of the name: it is shown by a run by hand too, and read by `test/main.ts`. */
function testsWithout(missing: readonly string[]): Tests {
  if (missing.length === 0) return { describe, it, beforeAll };
  const nameOf = (name: string) => `${name} [needs ${missing.join(", ")}]`;
  const skip: Test = (name, run) => it.skip(nameOf(name), run);
  return {
    describe: (name, define) => describe.skip(nameOf(name), define),
    it: Object.assign(skip.bind(undefined), { concurrent: skip }),
    beforeAll() {},
  };
}

function hasProgram(name: Program): boolean {
  return Bun.which(name) !== null;
}

/** The path of a program. The tests that ask for it are those of `needs`. */
export function findProgram(name: Program): string {
  const path = Bun.which(name);
  if (path === null) throw new Error(`This test needs ${name}: apt-get install ${PACKAGES[name]}`);
  return path;
}
