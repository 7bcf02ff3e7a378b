import type { Config } from "../app/config.ts";
import { createSharedPauses } from "../runtime/event-loop.ts";
import { toFilter } from "../domain/plant-filter.ts";
import { exportPlants } from "../files/export.ts";
import { fileLimits } from "../files/row.ts";
import { importFile } from "../files/import.ts";
import { openOwnStore } from "./own-store.ts";
import type { PlantAccess } from "./plant-access.ts";

/** The plants of a store that this process opens itself. */
export async function openStoreAccess(config: Config, isNew: boolean): Promise<PlantAccess> {
  // A file cannot be shared with a service. A database can, with any number of them, and is not waited for.
  const store = await openOwnStore(config, { isServing: config.database.kind === "sqlite", isNew });
  const openPauses = createSharedPauses(() => performance.now());
  return {
    import(source, { onConflict, dryRun, csv, onProblem, onCommit }) {
      const how = { isReplacing: onConflict === "replace", isDryRun: dryRun, csv, pauses: openPauses(), onProblem, onCommit };
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
