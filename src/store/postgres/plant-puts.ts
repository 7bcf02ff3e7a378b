import { setTimeout as sleep } from "node:timers/promises";
import { PlantStoreError } from "../../domain/errors.ts";
import { isSame } from "../../domain/plant.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import type { ImportOutcome } from "../plants.ts";
import { plantsById } from "./plant-columns.ts";
import { changeOrRefuse } from "./plant-tables.ts";
import type { Origin, PlantTables, Update } from "./plant-tables.ts";

/** How often to try plants that others create, change and delete at the same moment. */
const TRIES_MAX = 100;

/** The longest pause between two tries, in milliseconds. */
const PAUSE_MS_MAX = 10;

type PutOptions = Readonly<{
  isDryRun: boolean;
  origin: Origin;
  /** Makes a plant replace another one with its id. Without it, that one stays. */
  replace?: Replace | undefined;
}>;

/** The plants that the server refuses, and why. */
type Refused = Map<PlantId, Error>;

/** Creates or replaces plants. Resolves with an outcome or refusal each, in order. `tables` may try a change twice: that is harmless. */
export function createPut(tables: PlantTables) {
  /** Repeats come together, as of a file that is imported again. Then a look is cheaper than the attempt to create. */
  let wereMostThere = false;

  return async (plants: readonly NewPlant[], { isDryRun, origin, replace }: PutOptions): Promise<Array<ImportOutcome | Error>> => {
    const isReplacing = replace !== undefined;
    // If an id occurs more than once, the first plant creates and the last one replaces.
    const wanted = new Map((isReplacing ? plants : plants.toReversed()).map((plant) => [plant.id, plant]));
    const before = new Map<PlantId, NewPlant>();
    const refused: Refused = new Map();
    // Insert in one order everywhere: otherwise two commits could wait for each other's rows (deadlock). An update takes
    // its rows in the order of its plan: one that waits too long for another is made again.
    let open = [...wanted.values()].toSorted(byId);
    const isLook = isDryRun || wereMostThere;
    // A look is no try.
    for (let tries = isLook ? -1 : 0; open.length > 0; tries += 1) {
      if (tries === TRIES_MAX) {
        for (const { id } of open) refused.set(id, new PlantStoreError("overloaded"));
        break;
      }
      if (tries > 0) await sleep(Math.random() * Math.min(tries, PAUSE_MS_MAX));
      const others = tries < 0 ? open : await insert(tables, open, { origin, refused });
      if (others.length === 0) break;
      const stored = plantsById(await tables.find(others.map(({ id }) => id)));
      for (const [id, plant] of stored) before.set(id, plant);
      if (isDryRun) break;
      const there = others.filter(({ id }) => stored.has(id));
      const { same = [], different = [] } = Object.groupBy(there, (plant) => (isSame(plant, stored.get(plant.id)) ? "same" : "different"));
      // Retry those that were deleted or changed in the meantime.
      const deleted = others.filter(({ id }) => !stored.has(id));
      const changed = replace ? await replace(updatesOf(different, stored), origin, ({ id }, reason) => refused.set(id, reason)) : [];
      const unconfirmed = same.length > 0 && !(await tables.confirm(same)) ? same : [];
      open = [...deleted, ...changed, ...unconfirmed].toSorted(byId);
      for (const { id } of open) before.delete(id);
    }
    wereMostThere = before.size > wanted.size / 2;
    const outcomes = outcomesOf(plants, before, isReplacing);
    return refused.size === 0 ? outcomes : plants.map(({ id }, at) => refused.get(id) ?? outcomes[at]!);
  };
}

/** Resolves with those that were neither created nor refused: their ids are in use. */
async function insert(
  tables: PlantTables,
  plants: readonly NewPlant[],
  { origin, refused }: Readonly<{ origin: Origin; refused: Refused }>,
): Promise<readonly NewPlant[]> {
  const create = (some: readonly NewPlant[]) => tables.insert(some, origin);
  const rows = await changeOrRefuse(plants, create, ({ id }, reason) => refused.set(id, reason));
  if (rows.length === plants.length) return [];
  const created = new Set(rows.map(([id]) => id));
  return plants.filter(({ id }) => !created.has(id) && !refused.has(id));
}

function updatesOf(plants: readonly NewPlant[], stored: ReadonlyMap<PlantId, NewPlant>): Update[] {
  return plants.map((to) => ({ id: to.id, from: stored.get(to.id)!, to }));
}

function byId(left: NewPlant, right: NewPlant): number {
  return left.id < right.id ? -1 : 1;
}

/** The outcome of each plant, when they are applied in order to what was stored before. */
function outcomesOf(plants: readonly NewPlant[], before: ReadonlyMap<PlantId, NewPlant>, isReplacing: boolean): ImportOutcome[] {
  const there = new Map(before);
  return plants.map((plant) => {
    const stored = there.get(plant.id);
    if (stored === undefined || isReplacing) there.set(plant.id, plant);
    if (stored === undefined) return "created";
    if (isSame(stored, plant)) return "same";
    return isReplacing ? "replaced" : "in_use";
  });
}

/** How often to try after failures. */
const REPLACE_TRIES_MAX = 5;

/** Makes what is not refused. Resolves with the plants that were not as expected any more. */
export type Replace = (
  updates: readonly Update[],
  origin: Origin,
  refuse: (plant: Update, reason: Error) => void,
) => Promise<readonly NewPlant[]>;

/**
 * Replaces plants. After a failure no one knows whether they were replaced, until they are looked at. What is neither
 * the old nor the new plant then, others have changed: it rejects, as doing it again might undo what they were promised.
 * `update` must not run twice by itself.
 */
export function createReplace(tables: Pick<PlantTables, "confirm" | "find">, update: PlantTables["update"]): Replace {
  /** Resolves with those that were not made. Rejects with the reason if that cannot be told. */
  async function lookAgain(updates: readonly Update[], reason: unknown): Promise<readonly Update[]> {
    const now = plantsById(await tables.find(updates.map(({ id }) => id)));
    const made = updates.filter(({ id, to }) => isSame(to, now.get(id)));
    const left = updates.filter(({ id, from }) => isSame(from, now.get(id)));
    const isKnown = made.length + left.length === updates.length;
    if (!isKnown || (made.length > 0 && !(await tables.confirm(made.map(({ to }) => to))))) throw reason;
    return left;
  }

  return async (updates, origin, refuse) => {
    const change = (some: readonly Update[]) => update(some, origin);
    let failure: unknown;
    let open = updates;
    for (let tries = 1; open.length > 0; tries += 1) {
      try {
        const refused = new Set<PlantId>();
        const rows = await changeOrRefuse(open, change, (plant, reason) => {
          refused.add(plant.id);
          refuse(plant, reason);
        });
        const changed = new Set<bigint>(rows.map(([id]) => id));
        open = open.filter(({ id }) => !changed.has(id) && !refused.has(id));
        if (failure === undefined) break;
      } catch (thrown) {
        if (!(thrown instanceof PlantStoreError) || thrown.code !== "store_unavailable") throw thrown;
        failure = thrown;
      }
      if (tries === REPLACE_TRIES_MAX) throw failure;
      open = await lookAgain(open, failure);
    }
    return open.map(({ to }) => to);
  };
}
