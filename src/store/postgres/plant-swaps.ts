import type { Owner } from "../../runtime/fair-shares.ts";
import { isSame } from "../../domain/plant.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { idOf } from "../plants.ts";
import type { Swap } from "../plants.ts";
import { changeOrRefuse } from "./plant-tables.ts";
import type { Origin, PlantTables, Update } from "./plant-tables.ts";

/** Makes swaps in order, those of different plants together. Resolves with whether each was made, or why the server refuses it. */
export async function makeSwaps(
  tables: PlantTables,
  { swaps, swappers }: Readonly<{ swaps: readonly Swap[]; swappers: readonly Owner[] }>,
): Promise<Array<boolean | Error>> {
  const made: Array<boolean | Error> = swaps.map(() => false);
  /** What the swapped plants are now: a later swap that expects something else fails without a statement. */
  const current = new Map<PlantId, NewPlant | undefined>();
  let open = [...swaps.entries()];
  while (open.length > 0) {
    const turn = new Map<PlantId, number>();
    const later: typeof open = [];
    for (const [at, swap] of open) {
      const id = idOf(swap);
      if (turn.has(id)) later.push([at, swap]);
      else if (!current.has(id) || isSame(swap.from, current.get(id))) turn.set(id, at);
    }
    // Write in one order everywhere, against deadlocks.
    const ids = [...turn.keys()].toSorted((left, right) => (left < right ? -1 : 1));
    const changed = await makeTogether(
      tables,
      ids.map((id) => swaps[turn.get(id)!]!),
      { by: (id) => swappers[turn.get(id)!]! },
      ({ id }, reason) => (made[turn.get(id)!] = reason),
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
async function makeTogether(
  { insert, remove, update }: PlantTables,
  swaps: readonly Swap[],
  origin: Origin,
  refuse: (plant: Readonly<{ id: PlantId }>, reason: Error) => void,
): Promise<Set<bigint>> {
  const inserts: NewPlant[] = [];
  const updates: Update[] = [];
  const removes: NewPlant[] = [];
  for (const { from, to } of swaps) {
    if (from && to) updates.push({ id: from.id, from, to });
    else if (from) removes.push(from);
    else if (to) inserts.push(to);
  }
  const rows = [
    ...(await changeOrRefuse(inserts, (some) => insert(some, origin), refuse)),
    ...(await changeOrRefuse(removes, (some) => remove(some, origin), refuse)),
    ...(await changeOrRefuse(updates, (some) => update(some, origin), refuse)),
  ];
  return new Set(rows.map(([id]) => id));
}
