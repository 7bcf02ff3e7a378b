import { DatabaseSync } from "node:sqlite";
import { sizeOfFile } from "./files.ts";
import { isLocked } from "./folder-lock.ts";
import { expectOurs, isCurrent, schemaVersion } from "./schema.ts";

/** Throws if opening would migrate the tables under a service, which could then not start again. */
export function expectCurrent(path: string): void {
  if (sizeOfFile(path) === 0 || !isLocked(`${path}.lock`)) return;
  using db = new DatabaseSync(path, { readOnly: true });
  expectOurs(db);
  // The first start of a service has a file before it has tables.
  if (schemaVersion(db) === 0 || isCurrent(db)) return;
  throw new Error("A service of an older version is using this store: run the command of that version, or upgrade the service first.");
}
