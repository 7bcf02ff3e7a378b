import type { Audit, Who } from "../auth/audit.ts";
import type { ChangeKind } from "../domain/change.ts";
import { isSame } from "../domain/plant.ts";
import { ownerOf } from "../auth/principal.ts";
import { idOf } from "../store/plants.ts";
import type { PlantStore, Swap } from "../store/plants.ts";

/** Makes a swap for a caller, and logs what it changed or may have changed. False if the plant was not as expected. */
export type AuditedSwap = (swap: Swap, who: Who) => Promise<boolean>;

export function createAuditedSwap(plants: PlantStore, audit: Audit): AuditedSwap {
  return async (swap, who) => {
    const what = changeOf(swap);
    try {
      const isMade = await plants.compareAndSwap(swap, ownerOf(who.principal));
      if (isMade && what) audit.changed(who, what, idOf(swap));
      return isMade;
    } catch (reason) {
      if (what) audit.failed(who, what, idOf(swap), reason);
      throw reason;
    }
  };
}

/** Undefined if nothing changes. */
function changeOf({ from, to }: Swap): ChangeKind | undefined {
  if (!to) return "deleted";
  if (!from) return "created";
  return isSame(from, to) ? undefined : "replaced";
}
