import { asPlantId } from "../../src/domain/plant.ts";
import type { NewPlant } from "../../src/domain/plant.ts";

export function plantOf(id: number | bigint, name = `plant ${id}`, tag?: string): NewPlant {
  return { id: asPlantId(BigInt(id)), name, ...(tag === undefined ? {} : { tag }) };
}
