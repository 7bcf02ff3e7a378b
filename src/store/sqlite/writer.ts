import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { syncFolder } from "../../folder.ts";
import type { ImportOptions, ImportOutcome, RevokeOptions, Swap, Token, TokenUses } from "../store.ts";
import { isSyncFailure } from "./failure.ts";
import { markVersion, UNMARKED, walMark } from "./files.ts";
import { makeDurable, migrate, WAL_PAGES_MAX } from "./schema.ts";

/** Plants as columns: three arrays cross to the Worker three times as fast as an object a plant. */
export type PlantColumns = Readonly<{ ids: BigInt64Array; names: readonly string[]; tags: ReadonlyArray<string | null> }>;

/** What became of each plant of a commit, in the same order: an index into the outcomes. */
export const OUTCOMES = ["created", "same", "in_use", "replaced"] as const satisfies readonly ImportOutcome[];

/** The newest changes, of both kinds, that the search knows for good. */
export type Seen = Readonly<{ changes: number; bulkChanges: number }>;

/** `isCheckpointDue`: the WAL has grown so large that `checkpoint` should be called. */
export type Committed = Readonly<{ outcomes: Uint8Array; swapped: readonly boolean[]; isChanged: boolean; isCheckpointDue: boolean }>;

/** How a checkpoint went: the pages that the WAL held, and those that are in the database now. */
type Checkpoint = { busy: number; log: number; checkpointed: number };

/** The only connection that writes. All its methods wait for the disk: it lives in a Worker. */
export type Writer = ReturnType<typeof openWriter>;

/** How many plants a row of changes names at the most: the search looks at those of a row in one go. */
const CHANGE_PLANTS_MAX = 20;

/** How long another process, such as `plant-store token`, may hold the write lock before we give up, in milliseconds. */
const BUSY_MS = 1000;

/** Opens the database, makes its tables, and syncs what an earlier process left in the WAL. Throws when any of it fails. */
export function openWriter(path: string) {
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  makeDurable(db);
  migrate(db);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const insertPlant = db.prepare("INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING");
  const samePlant = db.prepare("SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?");
  const replacePlant = db.prepare("UPDATE plants SET name = ?, tag = ? WHERE id = ?");
  const updatePlant = db.prepare("UPDATE plants SET name = ?, tag = ? WHERE id = ? AND name = ? AND tag IS ?");
  const deletePlant = db.prepare("DELETE FROM plants WHERE id = ? AND name = ? AND tag IS ?");
  const insertChange = db.prepare("INSERT INTO changes (ids) VALUES (?)");
  const insertBulkChange = db.prepare("INSERT INTO bulk_changes (ids) VALUES (?)");
  const forgetChanges = db.prepare("DELETE FROM changes WHERE seq < ?");
  const forgetBulkChanges = db.prepare("DELETE FROM bulk_changes WHERE seq < ?");
  const insertToken = db.prepare(
    `INSERT INTO tokens (id, name, hash, scopes, created, expires, revoked, parent, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING`,
  );
  const findToken = db.prepare("SELECT revoked FROM tokens WHERE id = ?");
  const revokeToken = db.prepare("UPDATE tokens SET revoked = ? WHERE revoked IS NULL AND id = ? RETURNING id");
  // UNION without ALL ends, whatever the parents are.
  const revokeChildren = db.prepare(
    `UPDATE tokens SET revoked = ? WHERE revoked IS NULL AND id IN (
      WITH RECURSIVE family (id) AS (
        SELECT id FROM tokens WHERE parent = ? UNION SELECT tokens.id FROM tokens JOIN family ON tokens.parent = family.id
      ) SELECT id FROM family
    ) RETURNING id`,
  );
  const touchToken = db.prepare("UPDATE tokens SET used = ? WHERE id = ? AND coalesce(used, 0) < ?");
  const walPages = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  let isMarked = false;
  let forgotten: Seen = { changes: 0, bulkChanges: 0 };

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

  function createPlant(id: bigint, name: string, tag: string | null): ImportOutcome {
    if (insertPlant.run(id, name, tag).changes === 1) return "created";
    return samePlant.get(id, name, tag) ? "same" : "in_use";
  }

  function importPlant(id: bigint, name: string, tag: string | null): ImportOutcome {
    const outcome = createPlant(id, name, tag);
    if (outcome !== "in_use") return outcome;
    replacePlant.run(name, tag, id);
    return "replaced";
  }

  function swapPlant({ from, to }: Swap): boolean {
    if (!from) return to !== undefined && insertPlant.run(to.id, to.name, to.tag ?? null).changes === 1;
    const seen = [from.id, from.name, from.tag ?? null] as const;
    const { changes } = to ? updatePlant.run(to.name, to.tag ?? null, ...seen) : deletePlant.run(...seen);
    return changes === 1;
  }

  /** Forgets the changes that the search holds for good, when there are new ones. */
  function forget(seen: Seen): void {
    if (seen.changes > forgotten.changes) forgetChanges.run(seen.changes);
    if (seen.bulkChanges > forgotten.bulkChanges) forgetBulkChanges.run(seen.bulkChanges);
    // Should this commit fail, the next forgetting takes what was to be forgotten now along.
    forgotten = seen;
  }

  function isCheckpointDue(): boolean {
    return Number(walPages.get()?.["log"]) >= WAL_PAGES_MAX;
  }

  /** Puts the plants, tells what became of each, and appends the ids of those that changed something. */
  function putPlants({ ids, names, tags }: PlantColumns, put: typeof createPlant, changed: bigint[]): Uint8Array {
    const outcomes = new Uint8Array(ids.length);
    for (let at = 0; at < ids.length; at += 1) {
      const outcome = put(ids[at]!, names[at]!, tags[at]!);
      outcomes[at] = OUTCOMES.indexOf(outcome);
      if (outcome === "created" || outcome === "replaced") changed.push(ids[at]!);
    }
    return outcomes;
  }

  /** Writes down which plants a transaction changes, as part of it, so that the search never misses one. */
  function note(changed: readonly bigint[], insert: StatementSync): boolean {
    const ids = BigInt64Array.from(changed);
    for (let at = 0; at < ids.length; at += CHANGE_PLANTS_MAX) {
      const { buffer, byteOffset, byteLength } = ids.subarray(at, at + CHANGE_PLANTS_MAX);
      insert.run(new Uint8Array(buffer, byteOffset, byteLength));
    }
    return ids.length > 0;
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
    commit(creates: PlantColumns, swaps: readonly Swap[], seen: Seen): Committed {
      const written = transaction(() => {
        forget(seen);
        const changed: bigint[] = [];
        const outcomes = putPlants(creates, createPlant, changed);
        const swapped = swaps.map(swapPlant);
        swaps.forEach(({ from, to }, at) => swapped[at] && changed.push((to ?? from)!.id));
        return { outcomes, swapped, isChanged: note(changed, insertChange) };
      });
      return { ...written, isCheckpointDue: isCheckpointDue() };
    },
    /** Commits all the plants or none; a dry run none. */
    importPlants(plants: PlantColumns, { isReplacing, isDryRun }: ImportOptions, seen: Seen): Committed {
      const written = (isDryRun ? withoutTrace : transaction)(() => {
        if (!isDryRun) forget(seen);
        const changed: bigint[] = [];
        const outcomes = putPlants(plants, isReplacing ? importPlant : createPlant, changed);
        return { outcomes, swapped: [], isChanged: !isDryRun && note(changed, insertBulkChange) };
      });
      return { ...written, isCheckpointDue: isCheckpointDue() };
    },
    createToken({ id, name, scopes, created, expires, revoked, parent, lastUsed }: Token, hash: string): "created" | "taken" | "orphaned" {
      const values = [id, name, hash, scopes.join(" "), created, expires ?? null, revoked ?? null, parent ?? null, lastUsed ?? null];
      return transaction(() => {
        if (parent !== undefined && findToken.get(parent)?.["revoked"] !== null) return "orphaned";
        return insertToken.run(...values).changes === 1 ? "created" : "taken";
      });
    },
    revokeToken(id: string, at: number, { isKeepingChildren }: RevokeOptions): string[] | undefined {
      return transaction(() => {
        if (!findToken.get(id)) return undefined;
        const revoked = [...revokeToken.all(at, id), ...(isKeepingChildren ? [] : revokeChildren.all(at, id))];
        return revoked.map((row) => String(row["id"]));
      });
    },
    touchTokens(uses: TokenUses): void {
      transaction(() => uses.forEach((at, id) => touchToken.run(at, id, at)));
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
