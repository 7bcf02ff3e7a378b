import { Command } from "commander";
import type { Config } from "../app/config.ts";
import { acceptWithoutWal, checkStore, repairStore } from "../app/open-store.ts";
import type { Look } from "../store/check.ts";
import { escapeControls } from "../runtime/terminal-text.ts";
import { createCommandLog } from "./command-log.ts";
import { lowerPriority } from "./priority.ts";
import { showProgress } from "./progress.ts";
import { addJson, isJson, printResult } from "./result.ts";
import { addSettings, configOf } from "./settings.ts";

type Flags = Readonly<{ repair?: true; withoutWal?: true }>;

const WIDTH = 8;

export function checkCommand(): Command {
  const command = new Command("check")
    .description(
      "Check the whole store and change nothing: files, pages, indexes, tokens, each plant, the search index. The service may keep running.",
    )
    .option("--repair", "rebuild what is wrong and can be rebuilt from the plants; on SQLite, stop the service first")
    .option("--without-wal", "accept plants.db as it is, if it was copied without its WAL and the WAL is lost for good");
  return addSettings(addJson(command, "one line for each look"), ["data", "database"]).action(async () => {
    const { repair, withoutWal } = command.opts<Flags>();
    const config = configOf(command);
    const say = (text: string) => (isJson(command) ? process.stderr : process.stdout).write(text);
    lowerPriority();
    if (withoutWal) {
      await acceptWithoutWal(config);
      say(`The store in ${config.data} was accepted as it is. Changes that were only in its WAL are lost.\n`);
    }
    const faults = await check(command, config);
    // What is damaged must not be made to look sound.
    const isMendable = faults.length > 0 && faults.every(({ state }) => state === "wrong");
    if (!repair || !isMendable) return expectSound(config, faults);
    await repairStore(config, { wrong: faults, log: createCommandLog("info") });
    say("Repaired. Checking again:\n");
    expectSound(config, await check(command, config));
  });
}

async function check(command: Command, config: Config): Promise<readonly Look[]> {
  const faults: Look[] = [];
  let progress = showProgress("check", undefined);
  try {
    for await (const step of checkStore(config)) {
      if (step.kind === "progress") {
        progress.count(step.bytes);
        continue;
      }
      progress.stop();
      const { state, part, text } = step;
      printResult(command, { json: { state, part, text }, words: `${state.padEnd(WIDTH)}${part.padEnd(WIDTH)}${escapeControls(text)}` });
      if (step.state === "wrong" || step.state === "damaged") faults.push(step);
      progress = showProgress("check", undefined);
    }
  } finally {
    progress.stop();
  }
  return faults;
}

/** Throws what to do about faults. */
function expectSound({ data, database }: Config, faults: readonly Look[]): void {
  if (faults.length === 0) return;
  if (faults.some(({ state }) => state === "damaged"))
    throw new Error(
      "The store is damaged in what only a backup has. Keep a copy of it as it is, and see docs/how-to/when-something-is-wrong.md.",
    );
  if (faults.every(({ part }) => part === "shards" || part === "columns")) throw new Error("Do what is said above, then check again.");
  const how =
    database.kind === "sqlite" ? `stop the service, and run plant-store check --repair --data ${data}` : "run plant-store check --repair";
  throw new Error(`Something is wrong that can be rebuilt from the plants: ${how}.`);
}
