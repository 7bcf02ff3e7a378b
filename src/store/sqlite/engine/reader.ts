import { DatabaseSync } from "node:sqlite";
import type { NewPlant, PlantId } from "../../../plant.ts";
import { preparePlantReads } from "../plant-statements.ts";
import { prepareTokenReads } from "../token-statements.ts";

export type Reader = ReturnType<typeof openReader>;

/**
 * A read-only connection for short reads on the main thread. It sees only what was synced. Being read-only, it cannot
 * checkpoint, even if it is the last to close.
 */
export function openReader(path: string) {
  const db = new DatabaseSync(path, { readOnly: true });
  const begin = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  const plants = preparePlantReads(db);
  let isHeld = false;

  /** The next read sees all that was committed before it. Call it after each commit of this process. */
  function release(): void {
    if (!isHeld) return;
    isHeld = false;
    try {
      commit.run();
    } catch {
      // A read in it failed, and has said why. SQLite may have rolled back already.
      if (db.isTransaction) db.exec("ROLLBACK");
    }
  }

  function hold(): void {
    if (isHeld) return;
    begin.run();
    isHeld = true;
    setImmediate(release);
  }

  return {
    /**
     * One transaction serves all calls until the end of this turn of the event loop, or `release`. To begin and end one
     * takes SQLite four system calls, about as long as the read itself.
     */
    find(id: PlantId): NewPlant | undefined {
      hold();
      return plants.find(id);
    },
    list: plants.list,
    tokens: prepareTokenReads(db),
    release,
    close(): void {
      release();
      db.close();
    },
  };
}
