import type { PlantId } from "../../plant.ts";
import type { PlantLayout } from "./plant-layout.ts";

/** What runs side by side for the plants of one server. */
type Lanes<Lane> = Readonly<{ all: readonly Lane[]; of(id: PlantId): Lane }>;

/** For a server with shards. Three were no faster, and their statements smaller. */
const LANES = 2;

/**
 * Opens lanes. Without shards one has all plants, and runs `inFlight` statements at a time. With shards each has half of
 * them, and runs one: a statement costs Citus the more the more shards it touches, so many plants of a few shards are
 * better than some of all.
 */
export function openLanes<Lane>({ placeOf }: PlantLayout, inFlight: number, open: (inFlightMax: number) => Lane): Lanes<Lane> {
  if (!placeOf) {
    const all = [open(inFlight)] as const;
    return { all, of: () => all[0] };
  }
  const all = Array.from({ length: LANES }, () => open(1));
  return { all, of: (id) => all[placeOf(id) % LANES]! };
}
