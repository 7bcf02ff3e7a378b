import { DatabaseSync } from "node:sqlite";
import { preparePlantReads } from "../plant-statements.ts";
import { prepareTokenReads } from "../token-statements.ts";

export type Reader = ReturnType<typeof openReader>;

/**
 * A read-only connection for short reads on the main thread. It sees only what was synced. Being read-only, it cannot
 * checkpoint, even if it is the last to close.
 */
export function openReader(path: string) {
  const db = new DatabaseSync(path, { readOnly: true });
  return {
    plants: preparePlantReads(db),
    tokens: prepareTokenReads(db),
    close: () => db.close(),
  };
}
