// Runs every check but the tests, all of them even when one fails, and ends with 1 if any did. `npm run check`.
import { spawnSync } from "node:child_process";

const CHECKS = {
  format: ["oxfmt", "--check"],
  "lint, with floating promises and import floors": ["oxlint", "--deny-warnings"],
  "plain words, and names of tests": ["bun", ".ci/words.ts"],
  types: ["tsc"],
  "types of the page": ["tsc", "-p", "web"],
  "documents: length of lines, links, names of files, gates": ["bun", ".ci/markdown.ts"],
  "texts and tests of the mutants": ["bun", ".ci/mutants.ts"],
  "unused code": ["knip"],
  "what is made from the contract": ["bun", "contract/generator/generate.ts", "--check"],
  "reference that is made from the code": ["bun", "docs/reference/generate.ts", "--check"],
  "contract lint": ["redocly", "lint", "contract/base-1.0.0.yaml", "contract/openapi.yaml"],
  "contract breaks no client of the base": ["redocly", "diff", "contract/base-1.0.0.yaml", "contract/openapi.yaml", "--check-version"],
} as const satisfies Record<string, readonly string[]>;

const environment = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
let passed = 0;
let failed = 0;
for (const [name, [tool, ...words]] of Object.entries(CHECKS)) {
  // All tools run in our own runtime: the Node that installed them may be too old for them.
  const { status, stdout, stderr } = spawnSync("bun", ["run", "--bun", tool, ...words], { env: environment, encoding: "utf8" });
  const isGood = status === 0;
  if (isGood) passed += 1;
  else failed += 1;
  process.stdout.write(`${isGood ? "ok    " : "FAILED"} ${name}\n${isGood ? "" : `${stdout}${stderr}\n`}`);
}
process.stdout.write(`${passed} checks passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
