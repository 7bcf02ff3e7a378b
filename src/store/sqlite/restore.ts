import { renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "../../runtime/data-folder.ts";
import { expectUnused } from "../contents.ts";
import type { ContentsPart, Filled } from "../contents.ts";
import { isOfMachine } from "./engine/failure.ts";
import { findFilesFault, realPath, sizeOfFile, unfinished } from "./engine/files.ts";
import { migrate } from "./engine/schema.ts";
import { prepareDatedPuts } from "./plant-statements.ts";
import { removeWordIndex } from "./search/index-file.ts";
import { prepareTokenReads, prepareTokenWrites } from "./tokens.ts";

/**
 * Puts contents into a folder without a store, or with an unused one. They are the store only once they are complete
 * and on the disk: until then they have another name, with which no start is possible. Hold the lock of the store.
 */
export async function restoreSqliteStore(name: string, contents: AsyncIterable<ContentsPart>): Promise<Filled> {
  const path = realPath(name);
  const built = unfinished(path);
  rmSync(built, { force: true });
  const replaced = expectUnusedStore(path);
  try {
    await build(built, contents);
    // An index of the names of another store must not be taken for one of these.
    removeWordIndex(`${path}.search`);
    renameSync(built, path);
    syncFolder(dirname(path));
  } catch (reason) {
    rmSync(built, { force: true });
    if (!isOfMachine(reason)) throw reason;
    throw new Error(
      `${path} cannot be written (${reason.message}): make room, or name a folder on another disk with --data. Nothing was restored.`,
      { cause: reason },
    );
  }
  return { replaced };
}

/** The hash of the first token that it has, if any. Leaves one file of it. */
function expectUnusedStore(path: string): string | undefined {
  const fault = findFilesFault(path);
  if (fault && fault.kind !== "gone") throw new Error(fault.message);
  if (fault && sizeOfFile(`${path}-wal`) > 0) throw new Error(`${path}-wal may hold plants that are nowhere else: move it away first.`);
  if (sizeOfFile(path) === 0) return undefined;
  using db = new DatabaseSync(path);
  migrate(db);
  const hasPlants = db.prepare("SELECT 1 FROM plants LIMIT 1").get() !== undefined;
  const replaced = expectUnused(prepareTokenReads(db).listStored(), hasPlants);
  // Removes its WAL, which belongs to no other database.
  db.exec("PRAGMA journal_mode = DELETE");
  return replaced;
}

/** Writes a complete database, and syncs it. */
export async function build(path: string, contents: AsyncIterable<ContentsPart>): Promise<void> {
  using db = new DatabaseSync(path);
  // No journal in a file, which a kill would leave for the next restore: what cannot be completed is removed.
  db.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON");
  migrate(db);
  db.exec("BEGIN");
  const putPlant = prepareDatedPuts(db);
  const tokens = prepareTokenWrites(db);
  let plants = 0;
  for await (const part of contents) {
    for (const stored of part.tokens) if (!tokens.put(stored)) throw new Error(`The token ${stored.token.id} is duplicated.`);
    for (const plant of part.plants) putPlant(plant);
    plants += part.plants.length;
  }
  // So the store knows how many plants it has. Its log begins with no change.
  db.prepare("UPDATE changes SET total = ?").run(plants);
  db.exec("COMMIT");
}
