import { PlantStoreError } from "../../domain/errors.ts";
import { isSame } from "../../domain/plant.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { plantsById } from "./plant-columns.ts";
import { changeOrRefuse } from "./plant-tables.ts";
import type { PlantTables, Update } from "./plant-tables.ts";

/** How often to try after failures. */
const TRIES_MAX = 5;

/** Makes what is not refused. Resolves with the plants that were not as expected any more. */
export type Replace = (updates: readonly Update[], refuse: (plant: Update, reason: Error) => void) => Promise<readonly NewPlant[]>;

type ReplaceOptions = Readonly<{
  tables: Pick<PlantTables, "confirm" | "find">;
  /** Must not run twice by itself. */
  update: PlantTables["update"];
}>;

/**
 * Replaces plants. After a failure nobody knows whether they were replaced, until they are looked at. What is neither
 * the old nor the new plant then, others have changed: it rejects, as doing it again might undo what they were promised.
 */
export function createReplace({ tables, update }: ReplaceOptions): Replace {
  /** Resolves with those that were not made. Rejects with the reason if that cannot be told. */
  async function lookAgain(updates: readonly Update[], reason: unknown): Promise<readonly Update[]> {
    const now = plantsById(await tables.find(updates.map(({ id }) => id)));
    const made = updates.filter(({ id, to }) => isSame(to, now.get(id)));
    const left = updates.filter(({ id, from }) => isSame(from, now.get(id)));
    const isKnown = made.length + left.length === updates.length;
    if (!isKnown || (made.length > 0 && !(await tables.confirm(made.map(({ to }) => to))))) throw reason;
    return left;
  }

  return async (updates, refuse) => {
    let failure: unknown;
    let open = updates;
    for (let tries = 1; open.length > 0; tries += 1) {
      try {
        const refused = new Set<PlantId>();
        const rows = await changeOrRefuse(open, update, (plant, reason) => {
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
      if (tries === TRIES_MAX) throw failure;
      open = await lookAgain(open, failure);
    }
    return open.map(({ to }) => to);
  };
}
