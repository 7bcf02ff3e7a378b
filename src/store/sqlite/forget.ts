import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { PlantId } from "../../domain/plant.ts";
import { expectCurrent } from "./engine/in-use.ts";
import { findLastingFault } from "./engine/files.ts";
import { makeDurable } from "./engine/requirements.ts";
import { Writer } from "./engine/writer.ts";
import { openForLook, prepareStateRead } from "./search/index-file.ts";
import { prepareChangeReads } from "./search/recorded-changes.ts";

/** How long to wait for the index of a running service, and between two looks at it, in milliseconds. */
const INDEX_MS = 10_000;
const PAUSE_MS = 50;

const BEHIND =
  "The search index does not have all changes yet, and needs what plants were: start the service if it does not run, and repeat this when searches work.";

/**
 * Erases what a plant was from the changes that are kept: only that it was there stays. The search index must have forgotten
 * it before. A service may use the store. Returns how many states were erased.
 */
export async function forgetSqliteChanges(path: string, id: PlantId): Promise<number> {
  const fault = await findLastingFault(path);
  if (fault) throw new Error(fault.message);
  expectCurrent(path);
  const writer = new Writer(path);
  try {
    await untilIndexed(path);
    return writer.erasePlant(id);
  } finally {
    writer.close();
  }
}

/** Resolves when the index has on the disk all that is committed now, or will be made again. */
async function untilIndexed(path: string): Promise<void> {
  using db = new DatabaseSync(path, { readOnly: true });
  const { newest, markOf } = prepareChangeReads(db);
  const upTo = newest();
  for (let waitedMs = 0; !holdsAll(`${path}.search`, upTo, markOf); waitedMs += PAUSE_MS) {
    if (waitedMs >= INDEX_MS) throw new Error(BEHIND);
    await sleep(PAUSE_MS);
  }
}

function holdsAll(path: string, upTo: number, markOf: (change: number) => string): boolean {
  const opened = openForLook(path);
  if (!opened) return true;
  using index = opened.db;
  const { indexed, mark } = prepareStateRead(index)();
  if (mark !== markOf(indexed)) return true;
  if (indexed < upTo) return false;
  // What the index forgot must not come back with a power cut.
  using syncing = new DatabaseSync(path, { timeout: INDEX_MS });
  makeDurable(syncing);
  syncing.exec("PRAGMA wal_checkpoint(PASSIVE)");
  return true;
}
