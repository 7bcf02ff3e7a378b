// Runs the promises under fire, one file after the other, each in a process of its own: `npm run test:resilience`.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { FORM } from "../support/run-form.ts";

const HELP = `Usage: npm run test:resilience -- [options]

  --long            the long form: two hours instead of about ten minutes
  --only NAME,NAME  only these promises
  --seed NUMBER     repeat a run with the seed that it printed
  --help            this text

Promises: `;

const TEST_MS_MAX = { short: 180_000, long: 2 * 3_600_000 } as const;
const SUFFIX = ".resilience.ts";

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .toSorted();

try {
  const options = parseOptions();
  if (options) run(options);
  else process.stdout.write(`${HELP}${names.join(", ")}\n`);
} catch (reason) {
  process.stderr.write(`test:resilience: ${reason instanceof Error ? reason.message : String(reason)}\n`);
  process.exitCode = 1;
}

type Options = Readonly<{ form: "short" | "long"; only: readonly string[]; seed: string | undefined }>;

/** Undefined when the user asked for help. */
function parseOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      long: { type: "boolean", default: false },
      only: { type: "string", default: names.join() },
      seed: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const only = values.only.split(",");
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`There is no promise ${unknown.join(" and ")}: --only takes any of ${names.join(",")}.`);
  if (values.seed !== undefined && !/^\d{1,10}$/.test(values.seed)) throw new Error("--seed takes a whole number.");
  return { form: values.long ? "long" : "short", only, seed: values.seed };
}

function run({ form, only, seed }: Options): void {
  const environment = { ...process.env, [FORM]: form, ...(seed === undefined ? {} : { TEST_SEED: seed }) };
  const failed = only.filter((name) => {
    const file = join(import.meta.dirname, `${name}${SUFFIX}`);
    const words = ["test", "--timeout", String(TEST_MS_MAX[form]), file];
    return spawnSync(process.execPath, words, { stdio: "inherit", env: environment }).status !== 0;
  });
  if (failed.length > 0) throw new Error(`failed: ${failed.join(", ")}`);
}
