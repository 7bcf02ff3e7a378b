import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "../../../runtime/data-folder.ts";
import type { ImportOptions, Swap } from "../../plants.ts";
import type { TokenChange, TokenOutcome } from "../../tokens.ts";
import { OUTCOMES, preparePlantWrites } from "../plant-statements.ts";
import type { PlantColumns } from "../plant-statements.ts";
import { NOTHING_INDEXED, prepareChanges } from "../search/changes.ts";
import type { Change } from "../search/changes.ts";
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

/** The only connection that writes. Its methods block on the disk, so it runs in a Worker. */
export class Writer {
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #sql: ReturnType<typeof prepare>;
  #isMarked = false;
  #commits = 0;
  #syncMs = 0;

  /** Opens the database, creates its tables, and syncs what an earlier process left in the WAL. Throws when any of it fails. */
  constructor(path: string) {
    const db = new DatabaseSync(path, { timeout: BUSY_MS });
    makeDurable(db);
    migrate(db);
    this.#path = path;
    this.#db = db;
    this.#sql = prepare(db);
    // A killed process can leave commits that are readable but were never synced: sync them before anyone reads them.
    this.probe();
    // SQLite syncs the folder after it creates a WAL, but ignores whether that failed.
    syncFolder(dirname(realpathSync(path)));
  }

  /** Commits all or none. */
  commit(creates: PlantColumns, swaps: readonly Swap[], tokenChanges: readonly TokenChange[], indexed: number): CommittedChanges {
    const { plants, tokens, changes } = this.#sql;
    const written = this.#transaction(() => {
      changes.forget(indexed);
      plants.setTime(Date.now());
      const changed: Change[] = [];
      const outcomes = plants.put(creates, { isReplacing: false }, changed);
      let grown = changed.length;
      const swapped = swaps.map((swap) => plants.compareAndSwap(swap, changed));
      swaps.forEach((swap, at) => {
        if (!swapped[at]) return;
        if (!swap.from) grown += 1;
        if (!swap.to) grown -= 1;
      });
      return { outcomes, swapped, tokens: tokenChanges.map(tokens.change), change: changes.note(changed, grown) };
    });
    this.#commits += 1;
    return { ...written, walPages: this.#commits % COMMITS_A_LOOK === 0 ? this.countWalPages() : 0, syncMs: this.#syncMs };
  }

  /** Commits all plants or none. A dry run commits none. */
  importPlants(columns: PlantColumns, { isReplacing, isDryRun }: ImportOptions, indexed: number): Committed {
    const { plants, changes } = this.#sql;
    const write = () => {
      if (!isDryRun) changes.forget(indexed);
      plants.setTime(Date.now());
      const changed: Change[] = [];
      const outcomes = plants.put(columns, { isReplacing }, changed);
      const grown = outcomes.filter((outcome) => OUTCOMES[outcome] === "created").length;
      return { outcomes, change: isDryRun ? undefined : changes.note(changed, grown) };
    };
    const written = isDryRun ? this.#dryRun(write) : this.#transaction(write);
    return { ...written, walPages: this.countWalPages(), syncMs: this.#syncMs };
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
      // Of what was deleted, a stopped store keeps neither name nor tag.
      if (indexed > 0) this.#transaction(() => this.#sql.changes.forgetAll(indexed));
      this.#db.exec("PRAGMA journal_mode = DELETE");
    } catch (thrown) {
      // The last process that has it open does this, or the next start. A full disk loses nothing that was stored.
      if (isSyncFailure(thrown)) throw thrown;
    }
    this.#db.close();
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

function prepare(db: DatabaseSync) {
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    walPages: db.prepare("PRAGMA wal_checkpoint(NOOP)"),
    plants: preparePlantWrites(db),
    changes: prepareChanges(db),
    tokens: prepareTokenWrites(db),
  };
}
