import { DatabaseSync } from "node:sqlite";

/**
 * Locks a file, so that no second service can use it. The lock is SQLite's own, on an empty database: the kernel
 * releases it however the process ends, so it is never stale. Throws when another process holds it. Returns a function
 * that releases it.
 */
export function holdLock(path: string): () => void {
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever written, so no journal file is needed.
    db.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    db.close();
    throw new Error(
      "Another Plant Store is using this data folder: stop it, choose another folder with --data, or use --url to import or export through it.",
      { cause },
    );
  }
  return () => db.close();
}
