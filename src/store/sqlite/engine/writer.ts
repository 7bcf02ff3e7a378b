import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "../../../runtime/data-folder.ts";
import { idOf } from "../../plants.ts";
import type { ImportOptions, Swap } from "../../plants.ts";
import type { TokenChange, TokenOutcome } from "../../tokens.ts";
import { OUTCOMES, preparePlantWrites } from "../plant-statements.ts";
import type { PlantColumns } from "../plant-statements.ts";
import { prepareChanges } from "../search/changes.ts";
import type { Position } from "../search/changes.ts";
import { prepareTokenWrites } from "../token-statements.ts";
import { isSyncFailure } from "./failure.ts";
import { markVersion, UNMARKED, walMark } from "./files.ts";
import { makeDurable, pragma } from "./requirements.ts";
import { migrate } from "./schema.ts";

/**
 * `walPages`: the size of the WAL, or 0 when this commit did not look. From WAL_PAGES_MAX on a `checkpoint` is due.
 * `change`: the newest change of a plant; undefined if there was none. `syncMs`: how long COMMIT took, which writes the WAL
 * and syncs it. A dry run has none of its own.
 */
export type Committed = Readonly<{ outcomes: Uint8Array; change: number | undefined; walPages: number; syncMs: number }>;

type CommittedChanges = Committed & Readonly<{ swapped: readonly boolean[]; tokens: readonly TokenOutcome[] }>;

/** The result of a checkpoint. In pages: `log` were in the WAL, `checkpointed` of them are now in the database. */
type Checkpoint = { busy: number; log: number; checkpointed: number };

/** The only connection that writes. Its methods block on the disk, so it runs in a Worker. */
export type Writer = ReturnType<typeof openWriter>;

/**
 * How long to wait for the write lock while another process, such as `plant-store token`, holds it, in milliseconds.
 *
 * @limit writes: wait for the lock of the database file
 */
const BUSY_MS = 1000;

/** Asking for the size of the WAL costs as much as three plants, so only one commit in so many does. */
const COMMITS_A_LOOK = 16;

/**
 * Opens the database, creates its tables, and syncs what an earlier process left in the WAL. Throws when any of it
 * fails.
 */
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
  let commits = 0;
  let syncMs = 0;

  function transaction<Result>(work: () => Result): Result {
    begin.run();
    try {
      const result = work();
      const started = performance.now();
      commit.run();
      syncMs = performance.now() - started;
      return result;
    } catch (reason) {
      // SQLite may have rolled back already (sqlite.org/lang_transaction.html, "Response To Errors Within A
      // Transaction").
      if (db.isTransaction) rollback();
      throw reason;
    }
  }

  /** Runs the work, returns its result, and rolls back. */
  function dryRun<Result>(work: () => Result): Result {
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
      // Do not hide the error that came first: it may be a failed sync.
    }
  }

  function countWalPages(): number {
    return Number(walPages.get()?.["log"]);
  }

  /**
   * Commits a mark or clears it. Without `next` it commits the current value. That changes nothing, but shows whether
   * the disk accepts writes, and syncs all that is already in the WAL.
   */
  function mark(next?: number): void {
    transaction(() => {
      const version = Number(pragma(db, "PRAGMA user_version"));
      db.exec(`PRAGMA user_version = ${next === undefined ? version : markVersion(version, next)}`);
    });
  }

  function probe(): void {
    mark();
  }

  /**
   * Copies the WAL into the database, with a mark that names the WAL that the database will need. The next commit, in
   * that WAL, clears it.
   */
  function copyWal(how: "FULL" | "PASSIVE"): Checkpoint {
    let named: number;
    do {
      named = walMark(path);
      mark(named);
      isMarked = true;
      // If all of the WAL was in the database already, this commit has begun it again.
    } while (walMark(path) !== named);
    const outcome = db.prepare(`PRAGMA wal_checkpoint(${how})`).get() as Checkpoint;
    mark(UNMARKED);
    isMarked = false;
    return outcome;
  }

  // A killed process can leave commits that are readable but were never synced: sync them before anybody reads them.
  probe();
  // SQLite syncs the folder after it creates a WAL, but ignores whether that failed.
  syncFolder(dirname(realpathSync(path)));

  return {
    /** Commits all or none. */
    commit(creates: PlantColumns, swaps: readonly Swap[], tokenChanges: readonly TokenChange[], indexed: Position): CommittedChanges {
      const written = transaction(() => {
        changes.forget(indexed);
        plants.setTime(Date.now());
        const changed: bigint[] = [];
        const outcomes = plants.put(creates, { isReplacing: false }, changed);
        let grown = changed.length;
        const swapped = swaps.map(plants.compareAndSwap);
        swaps.forEach((swap, at) => {
          if (!swapped[at]) return;
          changed.push(idOf(swap));
          if (!swap.from) grown += 1;
          if (!swap.to) grown -= 1;
        });
        return { outcomes, swapped, tokens: tokenChanges.map(tokens.change), change: changes.note(changed, grown) };
      });
      commits += 1;
      return { ...written, walPages: commits % COMMITS_A_LOOK === 0 ? countWalPages() : 0, syncMs };
    },
    /** Commits all plants or none. A dry run commits none. */
    importPlants(columns: PlantColumns, { isReplacing, isDryRun }: ImportOptions, indexed: Position): Committed {
      const written = (isDryRun ? dryRun : transaction)(() => {
        if (!isDryRun) changes.forget(indexed);
        plants.setTime(Date.now());
        const changed: bigint[] = [];
        const outcomes = plants.put(columns, { isReplacing }, changed);
        const grown = outcomes.filter((outcome) => OUTCOMES[outcome] === "created").length;
        return { outcomes, change: isDryRun ? undefined : changes.note(changed, grown) };
      });
      return { ...written, walPages: countWalPages(), syncMs };
    },
    probe,
    countWalPages,
    /**
     * Copies the whole WAL into the database again and syncs it. After a failed sync, pages of the WAL may count as
     * clean without being on disk: syncing them again would write nothing. Throws when another process uses the
     * database.
     */
    rewrite(): void {
      if (copyWal("FULL").busy !== 0) throw new Error("Another process is using the database: end it, or start again when it has ended.");
    },
    /**
     * Syncs the WAL, copies it into the database and syncs that, so that the WAL restarts from its beginning. False
     * when a reader blocked it.
     */
    checkpoint(): boolean {
      const { log, checkpointed } = copyWal("PASSIVE");
      return log === checkpointed;
    },
    /**
     * Leaves one file, unless another process has it open. After a failed sync it closes nothing: SQLite would retry
     * the sync and trust it.
     */
    close(): void {
      try {
        if (isMarked) mark(UNMARKED);
        db.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
      } catch (thrown) {
        // The last process that has it open does this, or the next start. A full disk loses nothing that was stored.
        if (isSyncFailure(thrown)) throw thrown;
      }
      db.close();
    },
  };
}
