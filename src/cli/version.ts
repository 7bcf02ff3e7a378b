import { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { addJson, printResult } from "./result.ts";

export function versionCommand(): Command {
  const { version } = manifest;
  const command = addJson(new Command("version").description("Print the version."));
  return command.action(() => printResult(command, { json: { version }, words: version }));
}
