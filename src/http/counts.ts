import type { Schemas } from "../../contract/generated/schemas.ts";
import { toFilter } from "../plant-filter.ts";
import { ownerOf } from "../principal.ts";
import { queued } from "../store/fair-queue.ts";
import type { FairQueue } from "../store/fair-queue.ts";
import type { PlantStore } from "../store/plants.ts";
import type { Represent } from "./representation.ts";
import type { Handlers } from "./router.ts";

type CountOptions = Readonly<{ plants: PlantStore; queue: FairQueue; represent: Represent }>;

/** The operation that counts plants. */
export function countHandlers({ plants, queue, represent }: CountOptions): Pick<Handlers, "countPlants"> {
  return {
    async countPlants({ parameters, headers, principal }) {
      const count = await queued(plants, queue, { owner: ownerOf(principal), isPatient: false }).count(toFilter(parameters));
      return represent({ status: 200, body: JSON.stringify(count satisfies Schemas["PlantCount"]) }, headers);
    },
  };
}
