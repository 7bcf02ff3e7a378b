import { isSame } from "../../plant.ts";
import type { NewPlant, PlantId } from "../../plant.ts";
import type { Swap } from "../plants.ts";
import type { Execute, ExecuteOptions } from "./engine/retry.ts";
import { searchableColumnsOf, columnsOf } from "./plant-columns.ts";
import { DELETE_PLANTS, INSERT_PLANTS, UPDATE_PLANTS } from "./plant-statements.ts";

/** Makes swaps in order, those of different plants together. Resolves with whether each was made. */
export async function makeSwaps(execute: Execute, swaps: readonly Swap[], how: ExecuteOptions): Promise<boolean[]> {
  const made = swaps.map(() => false);
  /** What the swapped plants are now: a later swap that expects something else fails without a statement. */
  const current = new Map<PlantId, NewPlant | undefined>();
  let open = [...swaps.entries()];
  while (open.length > 0) {
    const turn = new Map<PlantId, number>();
    const later: typeof open = [];
    for (const [at, swap] of open) {
      const { id } = (swap.from ?? swap.to)!;
      if (turn.has(id)) later.push([at, swap]);
      else if (!current.has(id) || isSame(swap.from, current.get(id))) turn.set(id, at);
    }
    // Write in one order everywhere, against deadlocks.
    const ids = [...turn.keys()].toSorted((left, right) => (left < right ? -1 : 1));
    const changed = await makeTogether(
      execute,
      ids.map((id) => swaps[turn.get(id)!]!),
      how,
    );
    for (const [id, at] of turn) {
      if (!changed.has(id)) continue;
      made[at] = true;
      current.set(id, swaps[at]!.to);
    }
    open = later;
  }
  return made;
}

/** Makes swaps of different plants. Resolves with the ids of those that were made. */
async function makeTogether(execute: Execute, swaps: readonly Swap[], how: ExecuteOptions): Promise<Set<bigint>> {
  const inserts: NewPlant[] = [];
  const updates: { from: NewPlant; to: NewPlant }[] = [];
  const deletes: NewPlant[] = [];
  for (const { from, to } of swaps) {
    if (from && to) updates.push({ from, to });
    else if (from) deletes.push(from);
    else if (to) inserts.push(to);
  }
  const rows: [id: bigint][] = [];
  if (inserts.length > 0) rows.push(...(await execute<[bigint]>(INSERT_PLANTS, await searchableColumnsOf(inserts), how)));
  if (deletes.length > 0) rows.push(...(await execute<[bigint]>(DELETE_PLANTS, await columnsOf(deletes), how)));
  if (updates.length > 0) {
    const [, ...content] = await searchableColumnsOf(updates.map(({ to }) => to));
    rows.push(...(await execute<[bigint]>(UPDATE_PLANTS, [...(await columnsOf(updates.map(({ from }) => from))), ...content], how)));
  }
  return new Set(rows.map(([id]) => id));
}
