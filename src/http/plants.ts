import { PlantStoreError } from "../errors.ts";
import { toJson } from "../json.ts";
import { asPlantId, etagOf } from "../plant.ts";
import type { NewPlant } from "../plant.ts";
import type { PlantStore } from "../store/store.ts";
import type { Answer } from "./answer.ts";
import type { Handlers } from "./router.ts";

/** The operations on plants. */
export function plantHandlers(plants: PlantStore): Pick<Handlers, "createPlant" | "getPlant"> {
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
    async getPlant({ id, headers }) {
      const plant = id === undefined ? undefined : await plants.find(id);
      if (!plant) throw new PlantStoreError("plant_not_found");
      const etag = etagOf(plant);
      if (hasTag(headers.get("if-none-match"), etag)) return { status: 304, headers: { etag } };
      return { status: 200, body: toJson(plant), headers: { etag } };
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

/** Whether If-None-Match names this tag or `*`. The comparison is the weak one (RFC 9110, 13.1.2). */
function hasTag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

/** A body that the contract has checked, without its unknown fields. */
function toNewPlant(body: unknown): NewPlant {
  const { id, name, tag } = body as { id: bigint; name: string; tag?: string };
  return { id: asPlantId(id), name, ...(tag === undefined ? {} : { tag }) };
}
