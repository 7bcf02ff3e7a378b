import { ConnectionError, ERROR_NUMBERS, ServiceError, TimeoutError } from "../../src/client/page-client.ts";
import type { Client, Plant, StoredPlant } from "../../src/client/client.ts";
import { isSame } from "../../src/domain/plant.ts";

/** What became of a change. "conflict": the plant is no more what was seen; `theirs` is what it is now, undefined when it is gone. */
export type Saved = Readonly<{ kind: "saved"; plant: Plant }> | Readonly<{ kind: "conflict"; theirs: StoredPlant | undefined }>;

/** Saves `mine` in the place of what was seen, and of nothing else; `seen` is undefined when there was no plant. */
export async function savePlant(client: Client, mine: Plant, seen: StoredPlant | undefined): Promise<Saved> {
  try {
    const condition = seen === undefined ? { ifNoneMatch: "*" } : { ifMatch: seen.etag };
    return { kind: "saved", plant: (await client.put(mine, condition)).plant };
  } catch (thrown) {
    const isRefused = thrown instanceof ServiceError && thrown.error === ERROR_NUMBERS.precondition_failed;
    const isUnknown = thrown instanceof ConnectionError || thrown instanceof TimeoutError;
    if (!isRefused && !isUnknown) throw thrown;
    // A lost answer may have been a good one: the plant tells.
    const now = await client.find(mine.id);
    if (isSame(now?.plant, mine)) return { kind: "saved", plant: mine };
    // A proxy that alters tags would let people choose between two equal ones for good.
    if (isRefused && isSame(now?.plant, seen?.plant)) throw thrown;
    if (isRefused || now?.etag !== seen?.etag) return { kind: "conflict", theirs: now };
    throw thrown;
  }
}
