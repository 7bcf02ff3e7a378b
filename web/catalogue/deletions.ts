import type { Client, Plant } from "../../src/client/client.ts";
import { failureText } from "../failure-text.ts";
import { PROBLEM_MS, quote } from "../notices.ts";
import type { Notices } from "../notices.ts";
import type { Listing } from "./listing.ts";

export type Deletions = Readonly<{
  /** Hides the plant at once, and deletes it when some seconds are over and nobody has undone it. */
  remove: (plant: Plant) => void;
  /** Deletes now what is still waiting: the plant with this id, or all. What comes under an id after its deletion must not be taken for what was there before. */
  flush: (id?: bigint) => Promise<void>;
}>;

type DeletionOptions = Readonly<{
  client: Client;
  listing: Listing;
  notices: Notices;
  onDeleted: (plant: Plant) => void;
}>;

/** How long a deletion can be undone. */
const UNDO_MS = 8_000;

/**
 * A deletion is sent only when it can no longer be undone. To delete at once and create again would lose: a tab that is closed or a connection
 * that breaks in between leaves nothing to undo with, and somebody else may take the id meanwhile. So the worst that can happen is that a plant stays.
 */
export function createDeletions({ client, listing, notices, onDeleted }: DeletionOptions): Deletions {
  const waiting = new Map<bigint, { plant: Plant; notice: number; timer: ReturnType<typeof setTimeout> }>();

  function take(id: bigint): Plant | undefined {
    const entry = waiting.get(id);
    if (!entry) return undefined;
    clearTimeout(entry.timer);
    waiting.delete(id);
    notices.close(entry.notice);
    return entry.plant;
  }

  async function carryOut(id: bigint): Promise<void> {
    const plant = take(id);
    if (!plant) return;
    try {
      const problem = await removeAsSeen(client, plant);
      if (problem === undefined) onDeleted(plant);
      else notices.add({ kind: "problem", text: problem, lastsMs: PROBLEM_MS });
      listing.unhide(id);
      if (problem === undefined) listing.note(plant, undefined);
      else await refresh(id);
    } catch (thrown) {
      listing.unhide(id);
      notices.add({ kind: "problem", text: `${quote(plant.name)} was not deleted. ${failureText(thrown)}`, lastsMs: PROBLEM_MS });
    }
  }

  async function refresh(id: bigint): Promise<void> {
    const now = await client.find(id);
    if (now) listing.note(undefined, now.plant);
  }

  return {
    remove(plant) {
      listing.hide(plant.id);
      function undo(): void {
        if (take(plant.id)) listing.unhide(plant.id);
      }
      const action = { label: "Undo", run: undo, isFocused: true };
      const seconds = UNDO_MS / 1000;
      const notice = notices.add({ kind: "done", text: `${quote(plant.name)} will be deleted in ${seconds} seconds.`, action });
      waiting.set(plant.id, { plant, notice, timer: setTimeout(() => void carryOut(plant.id), UNDO_MS) });
    },
    async flush(id) {
      await Promise.all((id === undefined ? [...waiting.keys()] : [id]).map(carryOut));
    },
  };
}

/** Deletes the plant if it is still what was seen. Otherwise a sentence that says so. */
async function removeAsSeen(client: Client, seen: Plant): Promise<string | undefined> {
  const stored = await client.find(seen.id);
  if (!stored) return undefined;
  const { name, tag } = stored.plant;
  if (name !== seen.name || tag !== seen.tag)
    return `Someone changed ${quote(seen.name)} in the meantime, so it was kept. Look at it, then delete it again.`;
  await client.remove(seen.id, { ifMatch: stored.etag });
  return undefined;
}
