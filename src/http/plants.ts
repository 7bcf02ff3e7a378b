import { asPlantId, etagOf } from "../plant.ts";
import type { NewPlant } from "../plant.ts";
import type { PlantStore } from "../store/store.ts";
import type { Handlers } from "./router.ts";

/** The operations on plants. */
export function plantHandlers(plants: PlantStore): Pick<Handlers, "createPlant"> {
  return {
    async createPlant({ body }) {
      const plant = toNewPlant(body);
      await plants.create(plant);
      const { id, name, tag } = plant;
      return {
        status: 200,
        // A tag that is undefined is left out.
        body: JSON.stringify({ name, tag }),
        headers: { "content-location": `/plants/${id}`, etag: etagOf(plant) },
      };
    },
  };
}

/** A body that the contract has checked, without its unknown fields. */
function toNewPlant(body: unknown): NewPlant {
  const { id, name, tag } = body as { id: bigint; name: string; tag?: string };
  return { id: asPlantId(id), name, ...(tag === undefined ? {} : { tag }) };
}
