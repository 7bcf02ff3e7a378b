import { isSame } from "../../plant.ts";
import type { NewPlant, PlantId } from "../../plant.ts";
import type { Swap } from "../plants.ts";
import type { Execute, ExecuteOptions } from "./engine/retry.ts";
import { searchableColumnsOf, columnsOf } from "./plant-columns.ts";
import { changeEachPart } from "./plant-layout.ts";
import type { PlantLayout } from "./plant-layout.ts";
import { DELETE_PLANTS, UPDATE_PLANTS } from "./plant-statements.ts";

type SwapOptions = ExecuteOptions & Readonly<{ layout: PlantLayout }>;

/** Makes swaps in order, those of different plants together. Resolves with whether each was made, or why the server refuses it. */
export async function makeSwaps(execute: Execute, swaps: readonly Swap[], how: SwapOptions): Promise<Array<boolean | Error>> {
  const made: Array<boolean | Error> = swaps.map(() => false);
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

type Update = Readonly<{ id: PlantId; from: NewPlant; to: NewPlant }>;

async function update(execute: Execute, updates: readonly Update[], { layout, ...how }: SwapOptions): Promise<Array<[id: bigint]>> {
  const [, ...content] = await searchableColumnsOf(updates.map(({ to }) => to));
  return execute(layout.for(UPDATE_PLANTS, updates), [...(await columnsOf(updates.map(({ from }) => from))), ...content], how);
}

/** Makes swaps of different plants. Resolves with the ids of those that were made. */
async function makeTogether(
  execute: Execute,
  swaps: readonly Swap[],
  how: SwapOptions,
  refuse: (plant: Readonly<{ id: PlantId }>, reason: Error) => void,
): Promise<Set<bigint>> {
  const inserts: NewPlant[] = [];
  const updates: Update[] = [];
  const deletes: NewPlant[] = [];
  for (const { from, to } of swaps) {
    if (from && to) updates.push({ id: from.id, from, to });
    else if (from) deletes.push(from);
    else if (to) inserts.push(to);
  }
  const { layout } = how;
  const rows = [
    ...(await changeEachPart(layout.split(inserts), async (part) => execute<[bigint]>(...(await layout.insert(part)), how), refuse)),
    ...(await changeEachPart(
      layout.split(deletes),
      async (part) => execute<[bigint]>(layout.for(DELETE_PLANTS, part), await columnsOf(part), how),
      refuse,
    )),
    ...(await changeEachPart(layout.split(updates), (part) => update(execute, part, how), refuse)),
  ];
  return new Set(rows.map(([id]) => id));
}
