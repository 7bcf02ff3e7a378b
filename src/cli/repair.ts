import { Command } from "commander";
import { repairStore } from "../service.ts";
import { addSettings, configOf } from "./settings.ts";

/** For a start that is refused because the WAL is missing, when the WAL is lost for good. */
export function repairCommand(): Command {
  const command = new Command("repair").description("Take plants.db as it is, when it was copied without its WAL and that is lost.");
  return addSettings(command, ["data", "database"]).action(() => {
    const config = configOf(command, process.env);
    repairStore(config);
    process.stdout.write(`The store in ${config.data} is taken as it is: what its WAL held is not in it.\n`);
  });
}
