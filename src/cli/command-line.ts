import { Command } from "commander";
import { escapeControlLines } from "../runtime/terminal-text.ts";
import manifest from "../../package.json" with { type: "json" };

/** Each command loads its code only when it is called, so that it does not wait for that of the others. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  version: async () => (await import("./version.ts")).versionCommand(),
  serve: async () => (await import("./serve.ts")).serveCommand(),
  import: async () => (await import("./import.ts")).importCommand(),
  export: async () => (await import("./export.ts")).exportCommand(),
  backup: async () => (await import("./backup.ts")).backupCommand(),
  restore: async () => (await import("./restore.ts")).restoreCommand(),
  token: async () => (await import("./tokens.ts")).tokenCommand(),
  changes: async () => (await import("./changes.ts")).changesCommand(),
  check: async () => (await import("./check.ts")).checkCommand(),
  config: async () => (await import("./config.ts")).configCommand(),
  completion: async () => (await import("./completion.ts")).completionCommand(() => createCommandLine()),
};

/** The program with the command that is called. Without one that it knows, it has all of them, as its help needs. */
export async function createCommandLine(called = ""): Promise<Command> {
  const program = new Command("plant-store").description(manifest.description).version(manifest.version);
  const load = Object.hasOwn(COMMANDS, called) ? [COMMANDS[called]!] : Object.values(COMMANDS);
  for (const command of await Promise.all(load.map((one) => one()))) program.addCommand(command);
  return withSafeErrors(program);
}

/**
 * Commander's errors repeat what it does not know, such as a flag or an address with a password where the command was
 * forgotten, and do not say what to do. A command does not take this from the one above it.
 */
function withSafeErrors(command: Command, path = command.name()): Command {
  for (const one of command.commands) withSafeErrors(one, `${path} ${one.name()}`);
  return command.configureOutput({
    outputError(text, write) {
      const safe = text.replace(/(unknown (?:option|command) '[^'=:]*)[=:].*'/s, "$1'");
      const what = safe
        .replace(/^error: /, "")
        .replace("\n(Did", " (Did")
        .replace(/\.?\n$/, "");
      write(escapeControlLines(`plant-store: ${what}. See \`${path} --help\`.\n`));
    },
  });
}
