import { Option } from "commander";
import type { Command } from "commander";
import { openStoreAccess } from "./plant-access.ts";
import type { PlantAccess } from "./plant-access.ts";
import { openServiceAccess } from "./service-access.ts";
import { addSettings, configOf } from "./settings.ts";

/** Lets a command choose between a running service and a store of its own. */
export function addPlantsOptions(command: Command): Command {
  const url = new Option("--url <url>", "use the running service at this address, with the token in PLANT_STORE_TOKEN").env(
    "PLANT_STORE_URL",
  );
  return addSettings(command.addOption(url), ["data", "database"]);
}

/**
 * Opens what the command names. Throws if it does not exist or, for a data folder, is in use. `isNew`: whether an empty
 * store may be created.
 */
export async function openPlants(command: Command, { isNew }: { isNew: boolean }): Promise<PlantAccess> {
  const url = serviceOf(command);
  return url === undefined ? openStoreAccess(configOf(command), isNew) : openServiceAccess(url.trim());
}

/** The address of the service that is meant, if it is one. A flag that names a store overrides the variable. */
function serviceOf(command: Command): string | undefined {
  const { url } = command.opts<{ url?: string }>();
  const isVariable = command.getOptionValueSource("url") === "env";
  const store = ["data", "database"].find((name) => command.getOptionValueSource(name) === "cli");
  if (isVariable && (url === "" || store !== undefined)) return undefined;
  if (url !== undefined && store !== undefined)
    throw new Error(`--url names a service, and --${store} a store without one: leave out one of them.`);
  return url;
}
