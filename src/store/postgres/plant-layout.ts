import type { NewPlant, PlantId } from "../../plant.ts";
import { isRefused } from "./engine/failure.ts";
import type { Statement } from "./engine/pool.ts";
import { rowsOf, searchableColumnsOf } from "./plant-columns.ts";
import { INSERT_PLANTS, insertRows, REPLACE_PLANTS, replaceRows } from "./plant-statements.ts";

/** A statement with its values. */
type BoundStatement = readonly [statement: Statement, values: readonly unknown[]];

/** How the plants of one server are put into statements. */
export type PlantLayout = Readonly<{
  /** Parts that are a statement each. */
  split<Plant extends Identified>(plants: readonly Plant[]): ReadonlyArray<readonly Plant[]>;
  /** The statement as it reads or changes these plants in one commit. */
  for(statement: Statement, plants: readonly Identified[]): Statement;
  /** No id may occur twice. */
  insert(plants: readonly NewPlant[]): Promise<BoundStatement>;
  replace(plants: readonly NewPlant[]): Promise<BoundStatement>;
  /** The shard of a plant, counted from 0. Without shards, undefined. */
  placeOf?: (id: PlantId) => number;
}>;

type Identified = Readonly<{ id: PlantId }>;

/** One statement for all, with an array for each column. */
export const ONE_TABLE: PlantLayout = {
  split: (plants) => (plants.length === 0 ? [] : [plants]),
  for: (statement) => statement,
  insert: async (plants) => [INSERT_PLANTS, await searchableColumnsOf(plants)],
  replace: async (plants) => [REPLACE_PLANTS, await searchableColumnsOf(plants)],
};

/** From this many plants a shard, a statement for each shard costs less: Citus copies all rows for each shard. */
const MANY_A_SHARD = 24;

/**
 * For a worker of Citus. A statement on several of its shards must be one that Citus runs itself, shard after shard, in
 * one commit. Rows that are listed are; rows from arrays it would write to a file first, and read for every shard.
 * Anything else it runs itself only in a block: otherwise on connections to itself, with two-phase commit.
 */
export function layOutShards({ shardOf, placeOf }: Readonly<Record<"shardOf" | "placeOf", (id: PlantId) => number>>): PlantLayout {
  return {
    placeOf,
    split(plants) {
      const shards = Map.groupBy(plants, ({ id }) => shardOf(id));
      const areFew = plants.length > 0 && plants.length < shards.size * MANY_A_SHARD;
      return areFew ? [plants] : [...shards.values()];
    },
    for(statement, plants) {
      const [first] = plants;
      const isOneShard = plants.every(({ id }) => shardOf(id) === shardOf(first!.id));
      return isOneShard ? statement : { ...statement, isBlock: true };
    },
    insert: async (plants) => [insertRows(plants.length), await rowsOf(plants)],
    replace: async (plants) => [replaceRows(plants.length), await rowsOf(plants)],
  };
}

/** How many statements of one commit, or of one read, run at a time. */
const AT_A_TIME = 4;

/** Runs something for each part, and resolves with all results. */
export async function forEachPart<Plant, Row>(
  parts: ReadonlyArray<readonly Plant[]>,
  run: (plants: readonly Plant[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (parts.length === 1) return run(parts[0]!);
  const rows: Row[] = [];
  const open = parts.values();
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (const plants of open) rows.push(...(await run(plants)));
    }),
  );
  return rows;
}

/**
 * Changes each part. What the server refuses because of one plant fails for that plant alone: the rest of its part is
 * tried again, in halves. `refuse` is called with each of them.
 */
export function changeEachPart<Plant, Row>(
  parts: ReadonlyArray<readonly Plant[]>,
  change: (plants: readonly Plant[]) => Promise<readonly Row[]>,
  refuse: (plant: Plant, reason: Error) => void,
): Promise<readonly Row[]> {
  async function tryToChange(plants: readonly Plant[]): Promise<readonly Row[]> {
    try {
      return await change(plants);
    } catch (thrown) {
      if (!isRefused(thrown)) throw thrown;
      if (plants.length === 1) {
        refuse(plants[0]!, thrown as Error);
        return [];
      }
      const half = plants.length >> 1;
      return [...(await tryToChange(plants.slice(0, half))), ...(await tryToChange(plants.slice(half)))];
    }
  }
  return forEachPart(parts, tryToChange);
}
