import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "../../../data-folder.ts";
import type { ImportOptions, Swap } from "../../plants.ts";
import type { TokenChange, TokenOutcome } from "../../tokens.ts";
import { preparePlantWrites } from "../plant-statements.ts";
import type { PlantColumns } from "../plant-statements.ts";
import { prepareChanges } from "../search/changes.ts";
import type { Seen } from "../search/changes.ts";
import { prepareTokenWrites } from "../token-statements.ts";
import { isSyncFailure } from "./failure.ts";
import { markVersion, UNMARKED, walMark } from "./files.ts";
import { makeDurable, WAL_PAGES_MAX } from "./requirements.ts";
import { migrate } from "./schema.ts";

/** `isCheckpointDue`: the WAL has grown so large that `checkpoint` should be called. */
export type Committed = Readonly<{ outcomes: Uint8Array; isChanged: boolean; isCheckpointDue: boolean }>;

type CommittedChanges = Committed & Readonly<{ swapped: readonly boolean[]; tokens: readonly TokenOutcome[] }>;

/** How a checkpoint went: the pages that the WAL held, and those that are in the database now. */
type Checkpoint = { busy: number; log: number; checkpointed: number };

/** The only connection that writes. All its methods wait for the disk: it lives in a Worker. */
export type Writer = ReturnType<typeof openWriter>;

/** How long another process, such as `plant-store token`, may hold the write lock before we give up, in milliseconds. */
const BUSY_MS = 1000;

/** Opens the database, makes its tables, and syncs what an earlier process left in the WAL. Throws when any of it fails. */
export function openWriter(path: string) {
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  makeDurable(db);
  migrate(db);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const plants = preparePlantWrites(db);
  const changes = prepareChanges(db);
  const tokens = prepareTokenWrites(db);
  const walPages = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  let isMarked = false;

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

  /** Does the work, tells how it went, and undoes it. */
  function withoutTrace<Result>(work: () => Result): Result {
    begin.run();
    try {
      return work();
    } finally {
      if (db.isTransaction) rollback();
    }
  }

  function rollback(): void {
    try {
      db.exec("ROLLBACK");
    } catch {
      // The reason of the failure before it must not be hidden: it may be a failed sync.
    }
  }

  function isCheckpointDue(): boolean {
    return Number(walPages.get()?.["log"]) >= WAL_PAGES_MAX;
  }

  /** Commits a mark, or takes it back. To repeat what is so already changes nothing, but shows whether the disk takes writes, and syncs all that the WAL held before. */
  function mark(next?: number): void {
    transaction(() => {
      const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
      db.exec(`PRAGMA user_version = ${next === undefined ? version : markVersion(version, next)}`);
    });
  }

  function probe(): void {
    mark();
  }

  /** Copies the WAL into the database, with a mark that the database is nothing without the WAL that comes next, and which that takes back. */
  function copyWal(how: "FULL" | "PASSIVE"): Checkpoint {
    mark(walMark(path));
    isMarked = true;
    const outcome = db.prepare(`PRAGMA wal_checkpoint(${how})`).get() as Checkpoint;
    mark(UNMARKED);
    isMarked = false;
    return outcome;
  }

  // A killed process can leave commits that can be read but were never synced: sync them before anybody is told of them.
  probe();
  // SQLite syncs the folder for the name of a new WAL, but does not look whether that failed.
  syncFolder(dirname(realpathSync(path)));

  return {
    /** Commits all or none. */
    commit(creates: PlantColumns, swaps: readonly Swap[], tokenChanges: readonly TokenChange[], seen: Seen): CommittedChanges {
      const written = transaction(() => {
        changes.forget(seen);
        const changed: bigint[] = [];
        const outcomes = plants.put(creates, { isReplacing: false }, changed);
        const swapped = swaps.map(plants.compareAndSwap);
        swaps.forEach(({ from, to }, at) => swapped[at] && changed.push((to ?? from)!.id));
        return { outcomes, swapped, tokens: tokenChanges.map(tokens.change), isChanged: changes.note(changed, { isBulk: false }) };
      });
      return { ...written, isCheckpointDue: isCheckpointDue() };
    },
    /** Commits all the plants or none; a dry run none. */
    importPlants(columns: PlantColumns, { isReplacing, isDryRun }: ImportOptions, seen: Seen): Committed {
      const written = (isDryRun ? withoutTrace : transaction)(() => {
        if (!isDryRun) changes.forget(seen);
        const changed: bigint[] = [];
        const outcomes = plants.put(columns, { isReplacing }, changed);
        return { outcomes, isChanged: !isDryRun && changes.note(changed, { isBulk: true }) };
      });
      return { ...written, isCheckpointDue: isCheckpointDue() };
    },
    probe,
    /**
     * Writes all that the WAL holds into the database anew and syncs it. After a failed sync the pages of the WAL may count as
     * clean without being on the disk: to sync them again writes nothing. Throws when another process is in the way.
     */
    rewrite(): void {
      if (copyWal("FULL").busy !== 0) throw new Error("Another process uses the database: end it, or start again when it has ended.");
    },
    /** Syncs the WAL, copies it into the database and syncs that, so that the WAL starts again from its beginning. False when a reader was in the way. */
    checkpoint(): boolean {
      const { log, checkpointed } = copyWal("PASSIVE");
      return log === checkpointed;
    },
    /** Leaves one file when no other process has it open. After a failed sync nothing is closed: SQLite would try it again and believe it. */
    close(): void {
      try {
        if (isMarked) mark(UNMARKED);
        db.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
      } catch (thrown) {
        // Whoever has it open still closes it, or the next start does; a disk that is full changes nothing of what was stored.
        if (isSyncFailure(thrown)) throw thrown;
      }
      db.close();
    },
  };
}
