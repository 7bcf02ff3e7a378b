import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** A look at the lock holds it for a moment too. */
const WAIT_MS = 200;

/**
 * Locks a file, so that no second service can use it. The lock is SQLite's own, on an empty database: the kernel
 * releases it however the process ends, so it is never stale. Throws when another process holds it. Returns a function
 * that releases it.
 */
export function holdLock(path: string): () => void {
  const db = new DatabaseSync(path, { timeout: WAIT_MS });
  try {
    // Nothing is ever written, so no journal file is needed.
    db.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    db.close();
    throw new Error(
      "Another Plant Store is using this data folder: stop it, or choose another folder with --data. To import or export beside it, use --url.",
      { cause },
    );
  }
  return () => db.close();
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
