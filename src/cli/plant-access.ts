import { randomUUID } from "node:crypto";
import type { Config } from "../app/config.ts";
import { createSharedPauses } from "../runtime/event-loop.ts";
import { toFilter } from "../domain/plant-filter.ts";
import { exportPlants } from "../files/export.ts";
import { fileLimits } from "../files/row.ts";
import { importFile } from "../files/import.ts";
import { openOwnStore } from "./own-store.ts";
import type { PlantFilter } from "../client/client.ts";
import type { ExportForm } from "../files/export.ts";
import type { ImportCounts, ImportSummary, Problem } from "../files/import.ts";
import type { FileSource } from "../files/read-file.ts";
import type { Asked } from "../files/reading/reading.ts";

type ImportCall = Readonly<{
  onConflict: "refuse" | "replace";
  dryRun: boolean;
  asked: Asked;
  /** Called for each refused line that is reported: a service reports the first 1,000 that it refuses. */
  onProblem: (problem: Problem) => void;
  /** Called after each commit with the counts of all lines so far. A service tells nothing before its end. */
  onCommit: (counts: ImportCounts) => void;
}>;

/** Plants to import or export: those of a running service, or those of a data folder that no service uses. */
export type PlantAccess = Readonly<{
  import(source: FileSource, call: ImportCall): Promise<ImportSummary>;
  export(form: ExportForm, filter: PlantFilter): AsyncIterable<Uint8Array | string>;
  close(): Promise<void>;
}>;

export async function openStoreAccess(config: Config, isNew: boolean): Promise<PlantAccess> {
  // A file cannot be shared with a service. A database can, with any number of them, and is not waited for.
  const store = await openOwnStore(config, { isServing: config.database.kind === "sqlite", isNew });
  const openPauses = createSharedPauses(() => performance.now());
  return {
    import(source, { onConflict, dryRun, asked, onProblem, onCommit }) {
      const how = {
        isReplacing: onConflict === "replace",
        isDryRun: dryRun,
        by: "",
        import: randomUUID().replaceAll("-", ""),
        table: { asked },
        pauses: openPauses(),
        onProblem,
        onCommit,
      };
      return importFile(store.plants, source, { ...fileLimits(config.bodyBytesMax), ...how });
    },
    async *export(form, filter) {
      const terms = toFilter({ untagged: false, ...filter });
      const snapshot = await store.plants.snapshot();
      try {
        yield* exportPlants(snapshot, { form, terms });
      } finally {
        snapshot.close();
      }
    },
    close: () => store.close(),
  };
}
