import { PlantStoreError } from "../../domain/errors.ts";
import type { PlantId } from "../../domain/plant.ts";
import type { Log } from "../../runtime/log.ts";
import { parseHosts } from "./engine/hosts.ts";
import { openPool } from "./engine/pool.ts";
import { LOG } from "./engine/schema.ts";
import { runUnlimited, startUp } from "./engine/startup.ts";
import { FORGET } from "./past-statements.ts";

/** For a statement that looks at what is there, in milliseconds. */
const STATEMENT_MS_MAX = 30_000;

/**
 * Erases what a plant was from the changes that are kept: only that it was there stays. Services may use the store. Returns
 * how many states were erased. The server overwrites them on its disk when it vacuums the table.
 */
export async function forgetPostgresChanges({ url, log }: Readonly<{ url: string; log: Log }>, id: PlantId): Promise<number> {
  const hosts = parseHosts(url);
  const database = openPool({ hosts, connectionsMax: 2, serverMs: STATEMENT_MS_MAX });
  try {
    await startUp(database, { hosts, isNew: false, waitMs: 0, log });
    const [row] = await runUnlimited<[isSupported: string, isThere: string]>(database, LOG.find);
    if (row![1] !== "t") throw new PlantStoreError("changes_unsupported");
    return (await runUnlimited(database, FORGET, [id])).length;
  } finally {
    await database.close();
  }
}
