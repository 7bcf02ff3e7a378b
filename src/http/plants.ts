import { asPlantId, etagOf } from "../plant.ts";
import type { NewPlant } from "../plant.ts";
import type { PlantStore } from "../store/store.ts";
import type { Answer } from "./answer.ts";
import type { Handlers } from "./router.ts";

/** The operations on plants. */
export function plantHandlers(plants: PlantStore): Pick<Handlers, "createPlant"> {
  return {
    async createPlant({ body }) {
      const plant = toNewPlant(body);
      let answer: Answer | undefined;
      // Made while the disk is at work, sent only when the plant is on it.
      await plants.create(plant, () => {
        answer = toCreated(plant);
      });
      return answer ?? toCreated(plant);
    },
  };
}

function toCreated(plant: NewPlant): Answer {
  const { id, name, tag } = plant;
  return {
    status: 200,
    // A tag that is undefined is left out.
    body: JSON.stringify({ name, tag }),
    headers: { "content-location": `/plants/${id}`, etag: etagOf(plant) },
  };
}

/** A body that the contract has checked, without its unknown fields. */
function toNewPlant(body: unknown): NewPlant {
  const { id, name, tag } = body as { id: bigint; name: string; tag?: string };
  return { id: asPlantId(id), name, ...(tag === undefined ? {} : { tag }) };
}
