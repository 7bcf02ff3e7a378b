#!/usr/bin/env bun
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { configCommand } from "./cli/config.ts";
import { serveCommand } from "./cli/serve.ts";
import { tokenCommand } from "./cli/token.ts";

const program = new Command("plant-store")
  .description(manifest.description)
  .version(manifest.version)
  .addCommand(serveCommand())
  .addCommand(tokenCommand())
  .addCommand(configCommand());

try {
  await program.parseAsync();
} catch (reason) {
  process.stderr.write(`plant-store: ${reason instanceof Error ? reason.message : String(reason)}\n`);
  process.exit(1);
}
