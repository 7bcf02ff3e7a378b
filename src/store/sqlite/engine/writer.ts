import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "../../../runtime/data-folder.ts";
import type { ImportOptions, Swap } from "../../plants.ts";
import type { TokenChange, TokenOutcome } from "../../tokens.ts";
import { erasePlant } from "../erase.ts";
import { fromWriters } from "../log-row.ts";
import type { Change } from "../log-row.ts";
import { OUTCOMES, preparePlantWrites } from "../plant-statements.ts";
import type { PlantColumns } from "../plant-statements.ts";
import { NOTHING_INDEXED, prepareChanges } from "../search/changes.ts";
import { prepareTokenWrites } from "../tokens.ts";
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

/**
 * How long to wait for the write lock while another process, such as `plant-store token`, holds it, in milliseconds.
 *
 * @limit writes: wait for the lock of the database file
 */
const BUSY_MS = 1000;

/** Asking for the size of the WAL costs as much as three plants, so only one commit in so many does. */
const COMMITS_A_LOOK = 16;

/** How many rows of changes one commit deletes at most, besides one for each change that it makes. */
const FORGOTTEN_ROWS = 100;

/** The same in a commit of a stop, for which no one waits. */
const FORGOTTEN_AT_STOP = 10_000;

/** The only connection that writes. Its methods block on the disk, so it runs in a Worker. */
export class Writer {
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #sql: ReturnType<typeof prepare>;
  #isMarked = false;
  #commits = 0;
  #syncMs = 0;
  readonly #microseconds = Math.floor(Math.random() * 1000);

  /** Opens the database, creates its tables, and syncs what an earlier process left in the WAL. Throws when any of it fails. */
  constructor(path: string) {
    const db = new DatabaseSync(path, { timeout: BUSY_MS });
    makeDurable(db);
    migrate(db);
    this.#path = path;
    this.#db = db;
    this.#sql = prepare(db, this.#microseconds);
    // A killed process can leave commits that are readable but were never synced: sync them before anyone reads them.
    this.probe();
    // SQLite syncs the folder after it creates a WAL, but ignores whether that failed.
    syncFolder(dirname(realpathSync(path)));
  }

  /** How many days changes are kept, beyond what the index needs. */
  keepChanges(days: number): void {
    this.#sql.changes.forget.keep(days);
  }

  /** Commits all or none. `swappers`: who asked for the swaps (`toWriters`). */
  commit(
    creates: PlantColumns,
    swaps: readonly Swap[],
    tokenChanges: readonly TokenChange[],
    indexed: number,
    swappers = "",
  ): CommittedChanges {
    const { plants, tokens, changes } = this.#sql;
    const swapper = fromWriters(swappers);
    const written = this.#transaction(() => {
      const now = this.#begin(indexed, creates.ids.length + swaps.length);
      const changed: Change[] = [];
      const outcomes = plants.put(creates, { isReplacing: false, isDryRun: false }, changed);
      let grown = changed.length;
      const swapped = swaps.map((swap, at) => plants.compareAndSwap(swap, swapper(at), changed));
      swaps.forEach((swap, at) => {
        if (!swapped[at]) return;
        if (!swap.from) grown += 1;
        if (!swap.to) grown -= 1;
      });
      return { outcomes, swapped, tokens: tokenChanges.map(tokens.change), change: changes.note({ changed, grown, now }) };
    });
    this.#commits += 1;
    return { ...written, walPages: this.#commits % COMMITS_A_LOOK === 0 ? this.countWalPages() : 0, syncMs: this.#syncMs };
  }

  /** Commits plants, all or none: from the first on as many as there are outcomes. A dry run commits none. */
  importPlants(columns: PlantColumns, { isReplacing, isDryRun, by = "", import: id }: ImportOptions, indexed: number): Committed {
    const { plants, changes } = this.#sql;
    const write = () => {
      const now = this.#begin(isDryRun ? NOTHING_INDEXED : indexed, columns.ids.length);
      const changed: Change[] = [];
      const outcomes = plants.put({ ...columns, by }, { isReplacing, isDryRun }, changed);
      if (isDryRun) return { outcomes, change: undefined };
      const grown = outcomes.filter((outcome) => OUTCOMES[outcome] === "created").length;
      return { outcomes, change: changes.note({ changed, grown, now, of: id === undefined ? undefined : { id, by } }) };
    };
    const written = isDryRun ? this.#dryRun(write) : this.#transaction(write);
    return { ...written, walPages: this.countWalPages(), syncMs: this.#syncMs };
  }

  /** Deletes some changes that are no longer kept. `isMore`: there are others. */
  forgetChanges(indexed: number, rowsMax = FORGOTTEN_ROWS): Readonly<{ isMore: boolean; walPages: number }> {
    const isMore = this.#transaction(() => this.#sql.changes.forget.someRows({ indexed, now: this.#now(), rowsMax }));
    return { isMore, walPages: this.countWalPages() };
  }

  /** Erases what a plant was from the changes that are kept. Returns how many states. */
  erasePlant(id: bigint): number {
    return erasePlant(this.#db, { id, transaction: (work) => this.#transaction(work) });
  }

  /** Commits what changes nothing: it shows whether the disk accepts writes, and syncs all that is already in the WAL. */
  probe(): void {
    this.#mark();
  }

  countWalPages(): number {
    return Number(this.#sql.walPages.get()?.["log"]);
  }

  /**
   * Copies the whole WAL into the database again and syncs it. After a failed sync, pages of the WAL may count as
   * clean without being on disk: syncing them again would write nothing. Throws when another process uses the
   * database.
   */
  rewrite(): void {
    if (this.#copyWal("FULL").busy !== 0)
      throw new Error("Another process is using the database: end it, or start again when it has ended.");
  }

  /** Syncs the WAL, copies it into the database and syncs that, so that the WAL starts again. False when a reader blocked it. */
  checkpoint(): boolean {
    const { log, checkpointed } = this.#copyWal("PASSIVE");
    return log === checkpointed;
  }

  /** Leaves one file, unless another process has it open. Closes nothing after a failed sync: SQLite would retry and trust it. */
  close(indexed: number = NOTHING_INDEXED): void {
    try {
      if (this.#isMarked) this.#mark(UNMARKED);
      this.#db.exec("PRAGMA busy_timeout = 0");
      // A stopped store keeps no longer what a running one would not.
      while (this.forgetChanges(indexed, FORGOTTEN_AT_STOP).isMore);
      this.#db.exec("PRAGMA journal_mode = DELETE");
    } catch (thrown) {
      // The last process that has it open does this, or the next start. A full disk loses nothing that was stored.
      if (isSyncFailure(thrown)) throw thrown;
    }
    this.#db.close();
  }

  /** Begins a commit of so many changes, at the time that it returns. What it forgets is more than it can add. */
  #begin(indexed: number, changes: number): number {
    const now = this.#now();
    this.#sql.changes.forget.someRows({ indexed, now, rowsMax: FORGOTTEN_ROWS + changes });
    this.#sql.plants.setTime(now);
    return now;
  }

  /** In microseconds. Copies of one store, each of which goes on, are told from each other by what this process adds. */
  #now(): number {
    return Date.now() * 1000 + this.#microseconds;
  }

  #transaction<Result>(work: () => Result): Result {
    this.#sql.begin.run();
    try {
      const result = work();
      const started = performance.now();
      this.#sql.commit.run();
      this.#syncMs = performance.now() - started;
      return result;
    } catch (reason) {
      this.#rollback();
      throw reason;
    }
  }

  /** Runs the work, returns its result, and rolls back. */
  #dryRun<Result>(work: () => Result): Result {
    this.#sql.begin.run();
    try {
      return work();
    } finally {
      this.#rollback();
    }
  }

  #rollback(): void {
    // SQLite may have rolled back already (sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction").
    if (!this.#db.isTransaction) return;
    try {
      this.#db.exec("ROLLBACK");
    } catch {
      // Do not hide the error that came first: it may be a failed sync.
    }
  }

  /** Commits a mark or clears it. Without `next` it commits the current value. */
  #mark(next?: number): void {
    this.#transaction(() => {
      const version = Number(pragma(this.#db, "PRAGMA user_version"));
      this.#db.exec(`PRAGMA user_version = ${next === undefined ? version : markVersion(version, next)}`);
    });
  }

  /** Copies the WAL into the database, with a mark that names the WAL it will need. The next commit, in that WAL, clears it. */
  #copyWal(how: "FULL" | "PASSIVE"): Checkpoint {
    let named: number;
    do {
      named = walMark(this.#path);
      this.#mark(named);
      this.#isMarked = true;
      // If all of the WAL was in the database already, this commit has begun it again.
    } while (walMark(this.#path) !== named);
    const outcome = this.#db.prepare(`PRAGMA wal_checkpoint(${how})`).get() as Checkpoint;
    this.#mark(UNMARKED);
    this.#isMarked = false;
    return outcome;
  }
}

function prepare(db: DatabaseSync, microseconds: number) {
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    walPages: db.prepare("PRAGMA wal_checkpoint(NOOP)"),
    plants: preparePlantWrites(db),
    changes: prepareChanges(db, microseconds),
    tokens: prepareTokenWrites(db),
  };
}
