import { PlantStoreError } from "../domain/errors.ts";
import type { Snapshot } from "./plants.ts";

/**
 * How long a snapshot may last, in milliseconds: meanwhile the database cannot reuse the room of what is replaced.
 *
 * @limit files: duration of an export, which breaks off then
 */
const SNAPSHOT_MS_MAX = 15 * 60_000;

const ENDED =
  "The export lasted longer than 15 minutes, or too much was written meanwhile: export over a faster connection, or copy the database.";

export type Snapshots = ReturnType<typeof createSnapshots>;

/** The snapshots that are open. */
export function createSnapshots(take: () => Snapshot | Promise<Snapshot>) {
  const ends = new Set<() => void>();
  let isClosed = false;

  function endAll(): void {
    for (const end of ends) end();
  }

  return {
    async open(): Promise<Snapshot> {
      const { list, close } = await take();
      if (isClosed) {
        close();
        throw new PlantStoreError("draining");
      }
      let isOpen = true;
      const timer = setTimeout(end, SNAPSHOT_MS_MAX).unref();

      function end(): void {
        if (!isOpen) return;
        isOpen = false;
        clearTimeout(timer);
        ends.delete(end);
        close();
      }

      ends.add(end);
      return {
        async list(query) {
          try {
            return await list(query);
          } catch (reason) {
            if (isOpen) throw reason;
            throw isClosed ? new PlantStoreError("draining") : new PlantStoreError("overloaded", { message: ENDED });
          }
        },
        close: end,
      };
    },
    /** What lists further plants of one is rejected then. */
    endAll,
    /** Ends all of them, and takes no more. */
    close(): void {
      isClosed = true;
      endAll();
    },
  };
}
