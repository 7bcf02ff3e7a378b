import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { findShared } from "../../../runtime/file-system.ts";
import { isBusy } from "./failure.ts";
import { toUnusable } from "./files.ts";

/** A look at the lock holds it for a moment too. */
const WAIT_MS = 200;

/**
 * Locks a file, so that no second service can use it. The lock is SQLite's own, on an empty database: the kernel
 * releases it however the process ends, so it is never stale. Throws when another process holds it, or no one can.
 * Returns a function that releases it.
 */
export function holdLock(path: string): () => void {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: WAIT_MS });
    // Nothing is ever written, so no journal file is needed.
    db.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    db?.close();
    throw isBusy(cause) ? inUse(path, cause) : toUnusable(path, cause);
  }
  return () => db.close();
}

function inUse(path: string, cause: unknown): Error {
  const shared = findShared(dirname(path));
  // SQLite says the same of a lock that someone holds and of a file system without locks.
  const other = shared === undefined ? "" : ` If there is none, the locks of this file system (${shared}) do not work.`;
  const message = `Another Plant Store is using this data folder: stop it, or choose another folder with --data. To import or export beside it, use --url.${other}`;
  return new Error(message, { cause });
}

/** Whether a process holds the lock now. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  using db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch {
    return true;
  }
}
