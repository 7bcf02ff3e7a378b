import { DatabaseSync } from "node:sqlite";
import type { Outcome } from "../batch.ts";
import type { Token } from "../store.ts";
import { makeDurable, migrate } from "./schema.ts";

/** Plants as columns: three arrays cross to the Worker three times as fast as an object a plant. */
export type PlantColumns = Readonly<{ ids: BigInt64Array; names: readonly string[]; tags: ReadonlyArray<string | null> }>;

/** What became of each plant of a commit, in the same order: an index into the outcomes. */
export const OUTCOMES = ["created", "same", "in_use"] as const satisfies readonly Outcome[];

/** The only connection that writes. All its methods wait for the disk: it lives in a Worker. */
export type Writer = ReturnType<typeof openWriter>;

/** How long another process, such as `plant-store token`, may hold the write lock before we give up, in milliseconds. */
const BUSY_MS = 1000;

/** How large the WAL may grow before it is copied into the database, in pages of 4 KiB. */
const WAL_PAGES_MAX = 4000;

/** Opens the database, makes its tables, and syncs what an earlier process left in the WAL. Throws when any of it fails. */
export function openWriter(path: string) {
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  makeDurable(db);
  migrate(db);
  // Our own checkpoints: the automatic ones hide their errors, so a failed fsync would be tried again and believed.
  db.exec("PRAGMA wal_autocheckpoint = 0");
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const insertPlant = db.prepare("INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING");
  const samePlant = db.prepare("SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?");
  const insertToken = db.prepare("INSERT INTO tokens (id, name, hash, scopes, created, expires, revoked) VALUES (?, ?, ?, ?, ?, ?, ?)");
  const revokeToken = db.prepare("UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ?");
  const walPages = db.prepare("PRAGMA wal_checkpoint(NOOP)");

  function transaction<Result>(work: () => Result): Result {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (reason) {
      // SQLite may have rolled back by itself: lang_transaction.html, "Response To Errors Within A Transaction".
      if (db.isTransaction) rollback();
      throw reason;
    }
  }

  function rollback(): void {
    try {
      db.exec("ROLLBACK");
    } catch {
      // The reason of the failure before it must not be hidden: it may be a failed sync.
    }
  }

  function createPlant(id: bigint, name: string, tag: string | null): Outcome {
    if (insertPlant.run(id, name, tag).changes === 1) return "created";
    return samePlant.get(id, name, tag) ? "same" : "in_use";
  }

  /** Commits something that changes nothing: shows whether the disk takes writes, and syncs all that the WAL held before. */
  function probe(): void {
    transaction(() => {
      const version = db.prepare("PRAGMA user_version").get()?.["user_version"];
      db.exec(`PRAGMA user_version = ${Number(version)}`);
    });
  }

  // A killed process can leave commits that can be read but were never synced: sync them before anybody is told of them.
  probe();

  return {
    /** Commits all the plants or none. Also tells whether the WAL has grown so large that `checkpoint` is due. */
    createPlants({ ids, names, tags }: PlantColumns): { outcomes: Uint8Array; isCheckpointDue: boolean } {
      const outcomes = new Uint8Array(ids.length);
      transaction(() => {
        for (let at = 0; at < ids.length; at += 1) outcomes[at] = OUTCOMES.indexOf(createPlant(ids[at]!, names[at]!, tags[at]!));
      });
      return { outcomes, isCheckpointDue: Number(walPages.get()?.["log"]) >= WAL_PAGES_MAX };
    },
    createToken({ id, name, scopes, created, expires, revoked }: Token, hash: string): void {
      transaction(() => insertToken.run(id, name, hash, scopes.join(" "), created, expires ?? null, revoked ?? null));
    },
    revokeToken(id: string, at: number): boolean {
      return transaction(() => revokeToken.run(at, id).changes === 1);
    },
    probe,
    /**
     * Writes all that the WAL holds into the database anew and syncs it. After a failed sync the pages of the WAL may count as
     * clean without being on the disk: to sync them again writes nothing. Throws when another process is in the way.
     */
    rewrite(): void {
      const busy = db.prepare("PRAGMA wal_checkpoint(FULL)").get()?.["busy"];
      if (busy !== 0) throw new Error("Another process uses the database: end it, or start again when it has ended.");
    },
    /** Syncs the WAL, copies it into the database and syncs that, so that the WAL starts again from its beginning. */
    checkpoint(): void {
      db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    },
    close(): void {
      db.close();
    },
  };
}
