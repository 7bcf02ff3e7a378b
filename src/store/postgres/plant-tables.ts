import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { isRefused } from "./engine/failure.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute, ExecuteOptions } from "./engine/retry.ts";
import type { Owner } from "../../runtime/fair-shares.ts";
import { DELETE_LOGGED, INSERT_LOGGED, INSERT_LOGGED_OF_ONE, UPDATE_LOGGED } from "./change-statements.ts";
import { columnsOf, searchableColumnsOf, textsOf } from "./plant-columns.ts";
import type { PlantRow } from "./plant-columns.ts";
import { CONFIRM_PLANTS, DELETE_PLANTS, FIND_PLANTS, INSERT_PLANTS, UPDATE_PLANTS } from "./plant-statements.ts";

/** A change of a plant that must be `from` before. */
export type Update = Readonly<{ id: PlantId; from: NewPlant; to: NewPlant }>;

export type ChangedIds = ReadonlyArray<[id: bigint]>;

/** Who makes a change of each plant, and the import that it belongs to. */
export type Origin = Readonly<{ by: (id: PlantId) => Owner; import?: string | undefined }>;

/** Where the plants of one server are. A change is one commit, in which no id may occur twice. */
export type PlantTables = Readonly<{
  find(ids: readonly PlantId[]): Promise<readonly PlantRow[]>;
  /** Resolves with the ids that were created: the others are in use. */
  insert(plants: readonly NewPlant[], origin: Origin): Promise<ChangedIds>;
  /** These resolve with the ids of plants that were as expected. */
  update(updates: readonly Update[], origin: Origin): Promise<ChangedIds>;
  remove(plants: readonly NewPlant[], origin: Origin): Promise<ChangedIds>;
  /** Whether all these plants are durable as they are: a write to one waits for all earlier commits of its server (CONFIRM_PLANTS). */
  confirm(plants: readonly NewPlant[]): Promise<boolean>;
}>;

export type OpenTables = (execute: Execute, how: ExecuteOptions) => PlantTables;

/** The table of PostgreSQL. */
const openTable: OpenTables = (execute, how) => ({
  find: (ids) => execute(FIND_PLANTS, [ids], how),
  insert: async (plants) => execute(INSERT_PLANTS, await searchableColumnsOf(plants), how),
  update: async (updates) => execute(UPDATE_PLANTS, await updateColumnsOf(updates), how),
  remove: async (plants) => execute(DELETE_PLANTS, await columnsOf(plants), how),
  confirm: async (plants) => (await execute(CONFIRM_PLANTS, await columnsOf(plants.slice(0, 1)), how)).length === 1,
});

/** The same with the log of changes, as long as it is written. */
export function openLoggedTable(isWritten: () => boolean): OpenTables {
  return (execute, how) => {
    const table = openTable(execute, how);
    const change = <Plant extends Identified>(
      statementOf: (writers: readonly Owner[]) => Statement,
      toColumns: (plants: readonly Plant[]) => Promise<string[]>,
      unlogged: (plants: readonly Plant[], origin: Origin) => Promise<ChangedIds>,
    ) => {
      return async (plants: readonly Plant[], origin: Origin): Promise<ChangedIds> => {
        if (!isWritten()) return unlogged(plants, origin);
        const writers = writersOf(plants, origin);
        return execute(statementOf(writers), [...(await toColumns(plants)), textsOf(writers), origin.import ?? null], how);
      };
    };
    return {
      ...table,
      insert: change(({ length }) => (length > 1 ? INSERT_LOGGED : INSERT_LOGGED_OF_ONE), searchableColumnsOf, table.insert),
      update: change(() => UPDATE_LOGGED, updateColumnsOf, table.update),
      remove: change(() => DELETE_LOGGED, columnsOf, table.remove),
    };
  };
}

type Identified = Readonly<{ id: PlantId }>;

/** Who made the changes: one for all if it is the same. */
function writersOf(plants: readonly Identified[], { by }: Origin): readonly Owner[] {
  const writers = plants.map(({ id }) => by(id));
  return new Set(writers).size > 1 ? writers : writers.slice(0, 1);
}

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
