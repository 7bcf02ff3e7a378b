import { ownerOf } from "../auth/principal.ts";
import type { Schemas } from "../../contract/generated/schemas.ts";
import { toFilter } from "../domain/plant-filter.ts";
import type { PlantsFor } from "../store/queued-plants.ts";
import type { Represent } from "./representation.ts";
import type { Handlers } from "./router.ts";

type CountOptions = Readonly<{ plantsFor: PlantsFor; represent: Represent }>;

export function countHandlers({ plantsFor, represent }: CountOptions): Pick<Handlers, "countPlants"> {
  return {
    async countPlants({ parameters, headers, principal }) {
      const count = await plantsFor(ownerOf(principal)).count(toFilter(parameters));
      return represent({ status: 200, body: JSON.stringify(count satisfies Schemas["PlantCount"]) }, headers);
    },
  };
}
