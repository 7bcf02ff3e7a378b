import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "bun:test";
import { toCommandTree } from "../../src/cli/command-tree.ts";
import type { CommandTree } from "../../src/cli/command-tree.ts";
import { createCommandLine } from "../../src/cli/command-line.ts";
import { SCOPES } from "../../src/domain/scope.ts";
import { cleanEnvironment, runCommand } from "../support/process.ts";
import { findProgram, needs } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

// The shells themselves say what they would complete for someone who presses Tab.

const folder = temporaryFolder();
for (const name of ["roses.csv", "two words.csv"]) writeFileSync(join(folder, name), "");
for (const name of ["garden", "green house"]) mkdirSync(join(folder, name));
const home = temporaryFolder();
for (const shell of ["bash", "zsh", "fish"]) writeFileSync(join(home, shell), (await runCommand(["completion", shell])).stdout);

const PROMPT = "ready>";
const LINE_DONE = "done 2";

/** A shell at a terminal. `keys` show what would complete the line before them. */
async function startShell(words: readonly string[], { setup, keys }: { setup: string; keys: string }) {
  let shown = "";
  const terminal = new Bun.Terminal({ cols: 300, rows: 50, data: (_, bytes) => void (shown += Buffer.from(bytes).toString()) });
  const env = { ...cleanEnvironment(), HOME: home, TERM: "dumb", LC_ALL: "C.UTF-8", PS1: PROMPT };
  const shell = Bun.spawn([findProgram(words[0] as "bash"), ...words.slice(1)], { terminal, cwd: folder, env });
  const isReadyAfter = (text: string) => shown.includes(text) && shown.lastIndexOf(PROMPT) > shown.lastIndexOf(text);
  async function type(line: string): Promise<string> {
    shown = "";
    // Control-U takes the line back.
    terminal.write(`${line}\x15echo done $((1+1))\n`);
    await until(`the shell shows what completes ${line}`, () => isReadyAfter(LINE_DONE));
    return shown;
  }
  await until("the shell is ready", () => shown.includes(PROMPT));
  await type(setup);
  return {
    async complete(line: string): Promise<string[]> {
      const [, list = ""] = (await type(line + keys)).split(/ready>|echo done/)[0]!.split(/\n(.*)/s);
      // Columns, in zsh also with descriptions, and with a backslash before a space.
      const cells = list.replaceAll("\\", "").split(/\s{2,}|[\r\n]+/);
      return cells.filter((cell) => cell !== "" && !cell.startsWith("-- "));
    },
    async close() {
      shell.kill("SIGKILL");
      await shell.exited;
    },
  };
}

type Shell = Readonly<{ complete(line: string): string[] | Promise<string[]>; close?(): Promise<void> }>;

const fish: Shell = {
  complete(line) {
    const words = ["--no-config", "-c", 'source ~/fish; complete -C "$argv[1]"', line];
    const { stdout } = Bun.spawnSync([findProgram("fish"), ...words], { cwd: folder, env: { ...cleanEnvironment(), HOME: home } });
    return Array.from(stdout.toString().matchAll(/^(.*?)(?:\t.*)?$/gm), ([, word]) =>
      word!.replaceAll("\\", "").replace(/^--\w+=/, ""),
    ).filter((word) => word !== "");
  },
};

const SHELLS: Readonly<Record<"bash" | "zsh" | "fish", () => Shell | Promise<Shell>>> = {
  bash: () =>
    startShell(["bash", "--norc", "--noprofile", "-i"], {
      setup: "bind 'set completion-query-items 0'; bind 'set page-completions off'; source ~/bash\n",
      keys: "\x1b=",
    }),
  zsh: () =>
    startShell(["zsh", "-f", "-i"], {
      // The folders of the system may have an owner that zsh asks about, unless with -u.
      setup: "autoload -U compinit; compinit -u -D; LISTMAX=9999; source ~/zsh\n",
      keys: "\x04",
    }),
  fish: () => fish,
};

type Case = Readonly<{ line: string; words: readonly string[] }>;

const program = toCommandTree(await createCommandLine());
const files = ["garden/", "green house/", "roses.csv", "two words.csv"];
const folders = ["garden/", "green house/"];

function casesOf({ commands, flags }: CommandTree, line: string): Case[] {
  return [
    ...(commands.length === 0 ? [] : [{ line: `${line} `, words: commands.map(({ name }) => name) }]),
    ...(flags.length === 0 ? [] : [{ line: `${line} --`, words: flags.map(({ names }) => names[0]!) }]),
    ...commands.flatMap((one) => casesOf(one, `${line} ${one.name}`)),
  ];
}

const CASES: readonly Case[] = [
  ...casesOf(program, "plant-store"),
  { line: "plant-store ba", words: ["backup"] },
  { line: "plant-store help ", words: program.commands.map(({ name }) => name) },
  { line: "plant-store completion ", words: ["bash", "zsh", "fish"] },
  { line: "plant-store import ", words: files },
  { line: "plant-store import --dry-run ro", words: ["roses.csv"] },
  { line: "plant-store import --refused ", words: files },
  { line: "plant-store import --format ", words: ["ndjson", "csv"] },
  { line: "plant-store import --format=n", words: ["ndjson"] },
  { line: "plant-store import --format csv --on-conflict ", words: ["refuse", "replace"] },
  { line: "plant-store import --name-column ", words: [] },
  { line: "plant-store serve --data ", words: folders },
  { line: "plant-store serve --log ", words: ["debug", "info", "warn", "error"] },
  { line: "plant-store token create --name token --scopes ", words: SCOPES },
];

/** Bash begins a new word behind a colon, and replaces only that. */
const BASH_CASES: readonly Case[] = [{ line: "plant-store token create --scopes plants:", words: ["read", "write"] }];

for (const name of ["bash", "zsh", "fish"] as const) {
  needs(name).describe(`completion in ${name}`, () => {
    let shell: Shell;
    beforeAll(async () => {
      shell = await SHELLS[name]();
    });
    afterAll(() => shell.close?.());

    for (const { line, words } of [...CASES, ...(name === "bash" ? BASH_CASES : [])]) {
      it(`offers for \`${line}\` what the command takes, and nothing else`, async () => {
        expect((await shell.complete(line)).toSorted()).toEqual(words.toSorted());
      });
    }
  });
}
