import type { SearchTerms } from "../domain/terms.ts";
import type { Owner } from "../runtime/fair-shares.ts";
import type { FairQueue } from "./fair-queue.ts";
import type { PlantStore } from "./plants.ts";

/** What of a store takes turns with the work of others. */
export type QueuedPlants = Pick<PlantStore, "list" | "listOrdered" | "count" | "countFoundTags" | "snapshot" | "import">;

/** The plants for one caller, the owner of its shares. */
export type PlantsFor = (owner: Owner) => QueuedPlants;

type QueueOptions = Readonly<{ queue: Pick<FairQueue, "run">; noTimeout: boolean }>;

/** Work that shares a few workers with other callers goes through the fair queue. `noTimeout`: see there. */
export function queuePlants(plants: PlantStore, { queue, noTimeout }: QueueOptions): PlantsFor {
  return (owner) => {
    const caller = { owner, noTimeout };
    const inTurn = <Result>(kind: Parameters<PlantStore["takesTurns"]>[0], work: () => Promise<Result>) =>
      plants.takesTurns(kind) ? queue.run(work, caller) : work();
    return {
      list: (query) => inTurn(kindOf(query), () => plants.list(query)),
      listOrdered: (query) => inTurn("search", () => plants.listOrdered(query)),
      count: (terms) => inTurn(kindOf(terms), () => plants.count(terms)),
      countFoundTags: (terms) => inTurn(kindOf(terms), () => plants.countFoundTags(terms)),
      async snapshot() {
        const taken = await plants.snapshot();
        return { ...taken, list: (query) => inTurn("list", () => taken.list(query)) };
      },
      import: (some, options) => inTurn("import", () => plants.import(some, options)),
    };
  };
}

function kindOf({ words, tag }: SearchTerms): "search" | "list" {
  return words.length > 0 || tag !== undefined ? "search" : "list";
}
