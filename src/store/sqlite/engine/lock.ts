import { DatabaseSync } from "node:sqlite";

/**
 * Holds a file so that no second service can. SQLite's own lock on an empty database does it: the kernel lets go of it when the
 * process ends in whatever way, so there is never a stale one. Throws when another process holds it. Returns how to let go.
 */
export function holdLock(path: string): () => void {
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever written, so no journal needs to lie about.
    db.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    db.close();
    throw new Error(
      "Another Plant Store serves this data folder: stop it, choose another folder with --data, or import and export through it with --url.",
      { cause },
    );
  }
  return () => db.close();
}
