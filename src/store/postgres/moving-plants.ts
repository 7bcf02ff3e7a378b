import { PlantStoreError } from "../../domain/errors.ts";
import type { PlantId } from "../../domain/plant.ts";
import { idOf } from "../plants.ts";
import { GuardError, isMisplaced, judge } from "./engine/failure.ts";
import type { Health } from "./engine/health.ts";
import type { ServerPlants } from "./server-plants.ts";

type MovingOptions = Readonly<{
  plants: ServerPlants;
  health: Pick<Health, "failed">;
  of(id: PlantId): ServerPlants;
  /** What is known of where plants are. */
  map(): unknown;
  /** Reads it again. */
  follow(): Promise<void>;
}>;

/**
 * The plants of a worker. What it does not have any more, as when the table was undistributed, is asked where it is now,
 * unless a part of a change may have been made before.
 */
export function followPlants({ plants, health, of, map, follow }: MovingOptions): ServerPlants {
  async function ask<Result>(act: (server: ServerPlants) => Promise<Result>, id?: PlantId, isRepeatable = false): Promise<Result> {
    const before = map();
    try {
      return await act(plants);
    } catch (thrown) {
      const isUnsent = thrown instanceof PlantStoreError && thrown.cause instanceof GuardError;
      if (!isUnsent && !isMisplaced(thrown)) throw thrown;
      if (map() === before) await follow().catch(() => {});
      const hasMoved = map() !== before;
      if (hasMoved && id !== undefined && (isUnsent || isRepeatable)) return act(of(id));
      const { error } = judge(thrown);
      if (error && !hasMoved) health.failed(error, thrown);
      throw error ?? thrown;
    }
  }

  return {
    ...plants,
    create: (plant, options) => ask((server) => server.create(plant, options), plant.id, true),
    compareAndSwap: (swap, owner) => ask((server) => server.compareAndSwap(swap, owner), idOf(swap)),
    find: (id) => ask((server) => server.find(id), id, true),
    import: (some, options) => ask((server) => server.import(some, options)),
  };
}
