import { Command, InvalidArgumentError } from "commander";
import { forgetChanges } from "../app/open-store.ts";
import { parsePlantId } from "../domain/plant.ts";
import type { PlantId } from "../domain/plant.ts";
import { createCommandLog } from "./command-log.ts";
import { addJson, printResult } from "./result.ts";
import { addSettings, configOf } from "./settings.ts";

export function changesCommand(): Command {
  return new Command("changes").description("What is kept of changes, even while the service runs.").addCommand(forgetCommand());
}

function forgetCommand(): Command {
  const command = new Command("forget")
    .argument("<id>", "the id of a plant", parseId)
    .description("Erase what a plant was before its changes: names and tags. What it is now, and that it changed, stays.");
  return addSettings(addJson(command), ["data", "database"]).action(async (id: PlantId) => {
    const erased = await forgetChanges(configOf(command), { id, log: createCommandLog("warn") });
    const words = erased === 0 ? `No change has what plant ${id} was.` : `Erased what plant ${id} was before ${erased} changes.`;
    printResult(command, { json: { erased }, words });
  });
}

function parseId(text: string): PlantId {
  const id = parsePlantId(text);
  if (id === undefined) throw new InvalidArgumentError("Use the id of a plant.");
  return id;
}
