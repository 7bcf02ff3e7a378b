import { Option } from "commander";
import type { Command } from "commander";
import { createClient } from "../client/client.ts";
import { exportPlants } from "../transfer/export.ts";
import type { ExportForm } from "../transfer/export.ts";
import { importFile } from "../transfer/import.ts";
import type { FileFormat, ImportSummary, Problem } from "../transfer/import.ts";
import type { Bytes } from "../transfer/row.ts";
import { parsePlant } from "../validation.ts";
import { addSettings, configOf } from "./settings.ts";
import { openStoreHere } from "./direct-store.ts";

type ImportCall = Readonly<{
  format: FileFormat;
  onConflict: "refuse" | "replace";
  dryRun: boolean;
  /** Called for each refused line that is reported: a service reports the first 1,000. */
  onProblem: (problem: Problem) => void;
}>;

/** Plants to import or export: those of a running service, or those of a data folder that no service uses. */
export type PlantAccess = Readonly<{
  import(bytes: Bytes, call: ImportCall): Promise<ImportSummary>;
  export(form: ExportForm): AsyncIterable<Uint8Array | string>;
  close(): Promise<void>;
}>;

/** Lets a command choose between the two. */
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
  const { url } = command.opts<{ url?: string }>();
  return url === undefined ? openFolder(command, isNew) : openService(url);
}

function openService(url: string): PlantAccess {
  const token = process.env["PLANT_STORE_TOKEN"];
  if (!token) throw new Error("There is no token: set the environment variable PLANT_STORE_TOKEN.");
  if (!URL.canParse(url)) throw new Error(`${url} is not the address of a service: use one such as http://127.0.0.1:8080.`);
  const client = createClient({ url, token });
  return {
    async import(bytes, { format, onConflict, dryRun, onProblem }) {
      const summary = await client.importPlants(bytes, { format, onConflict, dryRun });
      for (const problem of summary.problems) onProblem(problem);
      return summary;
    },
    async *export(form) {
      yield* await client.exportPlants(form);
    },
    close: () => Promise.resolve(),
  };
}

async function openFolder(command: Command, isNew: boolean): Promise<PlantAccess> {
  const config = configOf(command, process.env);
  // A file cannot be shared with a service. A database can, with any number of them, and is not waited for.
  const store = await openStoreHere(config, { isServing: config.database.kind === "sqlite", isNew });
  return {
    import(bytes, { format, onConflict, dryRun, onProblem }) {
      const how = { isReplacing: onConflict === "replace", isDryRun: dryRun, onProblem };
      return importFile(store.plants, bytes, { format, parsePlant, lineBytesMax: config.bodyBytesMax, ...how });
    },
    async *export(form) {
      const snapshot = await store.plants.snapshot();
      try {
        yield* exportPlants(snapshot, form);
      } finally {
        snapshot.close();
      }
    },
    close: () => store.close(),
  };
}
