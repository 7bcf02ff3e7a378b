import { DatabaseSync } from "node:sqlite";
import { inParts } from "../contents.ts";
import type { Contents } from "../contents.ts";
import { translated } from "./engine/failure.ts";
import { SNAPSHOT_WAL_PAGES_MAX, tooMuchWritten } from "./engine/wal.ts";
import { readDatedPlants } from "./plant-statements.ts";
import { prepareTokenReads } from "./tokens.ts";

/**
 * All that the store holds now, on a connection of its own. While it is open, the WAL cannot start again: so reading
 * ends with an error when the WAL, whose pages the writer counts, has grown too much.
 */
export function openContents(path: string, countWalPages: () => Promise<number>): Contents {
  const db = new DatabaseSync(path, { readOnly: true });
  db.exec("BEGIN");
  const tokens = prepareTokenReads(db).listStored();

  async function* read() {
    yield { tokens, plants: [] };
    for (const plants of translated(() => inParts(readDatedPlants(db)))) {
      yield { tokens: [], plants };
      if ((await countWalPages()) > SNAPSHOT_WAL_PAGES_MAX)
        throw tooMuchWritten("back up when less is written, or take a snapshot of the file system");
    }
  }

  return { read, close: () => db.close() };
}
