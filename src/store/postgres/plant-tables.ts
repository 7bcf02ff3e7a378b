import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { isRefused } from "./engine/failure.ts";
import type { Execute, ExecuteOptions } from "./engine/retry.ts";
import { columnsOf, searchableColumnsOf } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { CONFIRM_PLANTS, DELETE_PLANTS, FIND_PLANTS, INSERT_PLANTS, UPDATE_PLANTS } from "./plant-statements.ts";

/** A change of a plant that must be `from` before. */
export type Update = Readonly<{ id: PlantId; from: NewPlant; to: NewPlant }>;

export type ChangedIds = ReadonlyArray<[id: bigint]>;

/** Where the plants of one server are. A change is one commit, in which no id may occur twice. */
export type PlantTables = Readonly<{
  find(ids: readonly PlantId[]): Promise<readonly PlantRow[]>;
  /** Resolves with the ids that were created: the others are in use. */
  insert(plants: readonly NewPlant[]): Promise<ChangedIds>;
  /** These resolve with the ids of plants that were as expected. */
  update(updates: readonly Update[]): Promise<ChangedIds>;
  remove(plants: readonly NewPlant[]): Promise<ChangedIds>;
  /** Whether all these plants are durable as they are: a write to one waits for all earlier commits of its server (CONFIRM_PLANTS). */
  confirm(plants: readonly NewPlant[]): Promise<boolean>;
}>;

export type OpenTables = (execute: Execute, how: ExecuteOptions) => PlantTables;

/** The table of PostgreSQL. */
export const openTable: OpenTables = (execute, how) => ({
  find: (ids) => execute(FIND_PLANTS, [ids], how),
  insert: async (plants) => execute(INSERT_PLANTS, await searchableColumnsOf(plants), how),
  update: async (updates) => execute(UPDATE_PLANTS, await updateColumnsOf(updates), how),
  remove: async (plants) => execute(DELETE_PLANTS, await columnsOf(plants), how),
  confirm: async (plants) => (await execute(CONFIRM_PLANTS, await columnsOf(plants.slice(0, 1)), how)).length === 1,
});

/** Updates as columns: ids, names and tags before, then names, tags, words and keys. */
export async function updateColumnsOf(updates: readonly Update[]): Promise<string[]> {
  const [, ...content] = await searchableColumnsOf(updates.map(({ to }) => to));
  return [...(await columnsOf(updates.map(({ from }) => from))), ...content];
}

/** Makes a change of all plants. If the server refuses it, tries again in halves, and calls `refuse` with each plant at fault. */
export async function changeOrRefuse<Plant>(
  plants: readonly Plant[],
  change: (plants: readonly Plant[]) => Promise<ChangedIds>,
  refuse: (plant: Plant, reason: Error) => void,
): Promise<ChangedIds> {
  if (plants.length === 0) return [];
  try {
    return await change(plants);
  } catch (thrown) {
    if (!isRefused(thrown)) throw thrown;
    if (plants.length === 1) {
      refuse(plants[0]!, thrown as Error);
      return [];
    }
    const half = plants.length >> 1;
    return [
      ...(await changeOrRefuse(plants.slice(0, half), change, refuse)),
      ...(await changeOrRefuse(plants.slice(half), change, refuse)),
    ];
  }
}
