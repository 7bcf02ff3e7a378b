#!/usr/bin/env -S BUN_JSC_forceRAMSize=134217728 bun
// The runtime sizes its heap by the memory of the machine. Told that there is little memory, it stays under 150 MB in
// an import of any size.
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { configCommand } from "./cli/config.ts";
import { exportCommand } from "./cli/export.ts";
import { importCommand } from "./cli/import.ts";
import { repairCommand } from "./cli/repair.ts";
import { serveCommand } from "./cli/serve.ts";
import { tokenCommand } from "./cli/tokens.ts";
import { PlantStoreError } from "./errors.ts";
import { escapeControlLines } from "./terminal-text.ts";

// All that is written, above all the store and the first token, is for its owner alone.
process.umask(0o077);

const program = new Command("plant-store")
  .description(manifest.description)
  .version(manifest.version)
  .addCommand(serveCommand())
  .addCommand(importCommand())
  .addCommand(exportCommand())
  .addCommand(tokenCommand())
  .addCommand(repairCommand())
  .addCommand(configCommand());

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
