import { Command } from "commander";
import { repairStore } from "../service.ts";
import { addSettings, configOf } from "./settings.ts";

/** For a start that is refused because the WAL is missing, when the WAL is lost for good. */
export function repairCommand(): Command {
  const command = new Command("repair").description("Accept plants.db as it is, after it was copied without its WAL and the WAL is lost.");
  return addSettings(command, ["data", "database"]).action(() => {
    const config = configOf(command, process.env);
    repairStore(config);
    process.stdout.write(`The store in ${config.data} was accepted as it is. Changes that were only in its WAL are lost.\n`);
  });
}
