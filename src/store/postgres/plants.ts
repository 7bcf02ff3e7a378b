import { PlantStoreError } from "../../domain/errors.ts";
import type { NewPlant } from "../../domain/plant.ts";
import type { QueueLimits } from "../group-commit.ts";
import { idOf } from "../plants.ts";
import type { ImportOptions, ImportOutcome, PlantStore } from "../plants.ts";
import { ORDERS } from "../page.ts";
import type { Snapshots } from "../snapshots.ts";
import { keepCounts } from "../tags.ts";
import { countFoundTags, countPlants, countTags, ESTIMATE_PLANTS, ESTIMATE_SHARDS } from "./counts.ts";
import type { Execute } from "./engine/retry.ts";
import type { NameKeys } from "./name-keys.ts";
import { listOrdered } from "./ordered-lists.ts";
import { list, createPageReach } from "./plant-lists.ts";
import type { Workers } from "./workers.ts";

type PlantsOptions = Readonly<{
  /** The servers that have plants. They may change at any time. */
  servers: Workers;
  /** Asks all of them. */
  execute: Execute;
  /** Only a store opened to serve has them. */
  nameKeys: NameKeys | undefined;
  snapshots: Snapshots;
  now: QueueLimits["now"];
}>;

/** Plants on one server or several: each server commits its own, and one that is away keeps only those waiting. */
export function createPlants({ servers, execute, nameKeys, snapshots, now }: PlantsOptions): PlantStore {
  async function importPlants(plants: readonly NewPlant[], options: ImportOptions): Promise<readonly ImportOutcome[]> {
    const parts = Map.groupBy(plants.keys(), (at) => servers.of(plants[at]!.id));
    const outcomes: ImportOutcome[] = [];
    await Promise.all(
      Array.from(parts, async ([server, places]) => {
        const some = await server.import(
          places.map((at) => plants[at]!),
          options,
        );
        places.forEach((place, at) => (outcomes[place] = some[at]!));
      }),
    );
    return outcomes;
  }

  const reach = createPageReach();

  return {
    create: (plant, options) => servers.of(plant.id).create(plant, options),
    compareAndSwap: (swap, owner) => servers.of(idOf(swap)).compareAndSwap(swap, owner),
    import: importPlants,
    find: (id) => servers.of(id).find(id),
    list: (query) => list(execute, query, servers.areWorkers() ? reach : undefined),
    listOrdered: async (query) => {
      if (!nameKeys) throw new PlantStoreError("index_building");
      if (ORDERS[query.order].by === "name") await nameKeys.check();
      return listOrdered({ execute, onStale: (stale) => nameKeys.renew(stale) }, query);
    },
    snapshot: snapshots.open,
    takesTurns: () => true,
    countTags: keepCounts({ count: () => countTags(execute), now }),
    count: (terms) => countPlants(execute, terms, servers.areWorkers() ? ESTIMATE_SHARDS : ESTIMATE_PLANTS),
    countFoundTags: (terms) => countFoundTags(execute, terms),
  };
}
