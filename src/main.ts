#!/usr/bin/env -S BUN_JSC_forceRAMSize=134217728 bun
// The runtime sizes its heap by the memory of the machine. Told that there is little memory, it stays under 150 MB in
// an import of any size.
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { PlantStoreError } from "./errors.ts";
import { escapeControlLines } from "./terminal-text.ts";

// Only their owner may read or write the files that we create, above all the store and the first token.
process.umask(0o077);

/** Each command loads its code only when it is called, so that it does not wait for that of the others. */
const COMMANDS = {
  serve: async () => (await import("./cli/serve.ts")).serveCommand(),
  import: async () => (await import("./cli/import.ts")).importCommand(),
  export: async () => (await import("./cli/export.ts")).exportCommand(),
  token: async () => (await import("./cli/tokens.ts")).tokenCommand(),
  repair: async () => (await import("./cli/repair.ts")).repairCommand(),
  config: async () => (await import("./cli/config.ts")).configCommand(),
};

const program = new Command("plant-store").description(manifest.description).version(manifest.version);
const called = Object.entries(COMMANDS).filter(([name]) => name === process.argv[2]);
// Without a command, load all of them, for the help.
for (const [, load] of called.length > 0 ? called : Object.entries(COMMANDS)) program.addCommand(await load());

try {
  await program.parseAsync();
} catch (reason) {
  process.stderr.write(`plant-store: ${escapeControlLines(textOf(reason))}\n`);
  process.exit(1);
}

/** The message for clients does not say what is wrong with the machine: its cause does. */
function textOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  const cause = reason instanceof PlantStoreError && reason.cause instanceof Error ? ` The reason: ${reason.cause.message}` : "";
  return reason.message + cause;
}
