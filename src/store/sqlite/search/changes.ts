import type { DatabaseSync } from "node:sqlite";
import { SEARCHED_LENGTH_MAX } from "../../../domain/terms.ts";
import { COMMIT_CHARACTERS } from "../../commit-size.ts";
import { prepareImportNotes } from "../imports.ts";
import type { ImportOf } from "../imports.ts";
import { toBefore, toIds, toKinds, toWriters } from "../log-row.ts";
import type { Change } from "../log-row.ts";

/** A character has at most four bytes. */
const NAME_BYTES = 4 * SEARCHED_LENGTH_MAX;

/**
 * The columns of a `PlantRow`. Only the start of a name counts, for a search and for its place. The substr of a text ends
 * at a NUL, that of an empty blob is null.
 */
export const INDEXED_COLUMNS = `id, CAST(coalesce(substr(CAST(name AS BLOB), 1, ${NAME_BYTES}), '') AS TEXT) AS name, tag, added`;

/** What an index holds that holds no change. Changes are numbered from 1. */
export const NOTHING_INDEXED = 0;

/** Most ids in a row of changes: the indexer takes a row as a whole. */
const CHANGE_PLANTS_MAX = 20;

/** A commit deletes no further row once what was there before has so many bytes: more than it can add, of which JSON makes six from one. */
const FORGOTTEN_BYTES = 8 * COMMIT_CHARACTERS;

/** How many rows are kept of those from the future. */
const UNDATED_ROWS = 100_000;

const DAY_US = 24 * 60 * 60 * 1_000_000;

/** What a commit changed. `grown`: by how many plants there are more than before. `now`: in microseconds. `of`: the import that it belongs to. */
type CommitNote = Readonly<{ changed: readonly Change[]; grown: number; now: number; of?: ImportOf | undefined }>;

/** `indexed`: what the index holds durably. `rowsMax`: most rows to delete. */
type ForgetLimits = Readonly<{ indexed: number; now: number; rowsMax: number }>;

/**
 * Records what a transaction of the writer changes, inside that transaction: for the index, which so never misses a plant,
 * and for those who follow the store. `microseconds`: what this process adds to times.
 */
export function prepareChanges(db: DatabaseSync, microseconds: number) {
  const newest = db.prepare("SELECT seq, total, at FROM changes ORDER BY seq DESC LIMIT 1");
  const insert = db.prepare("INSERT INTO changes (seq, ids, total, before, at, kinds, writers, import) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const imports = prepareImportNotes(db);
  // Two copies of a store that go on while the clock is behind the log must not give two rows the same place and time.
  const earliest = newestTime() + 1 + microseconds;

  function newestTime(): number {
    return (newest.get()?.["at"] as number | null | undefined) ?? 0;
  }

  return {
    /** Returns the newest change; undefined if there is none. */
    note({ changed, grown, now, of }: CommitNote): number | undefined {
      if (changed.length === 0) return undefined;
      const last = newest.get() as { seq: number; total: number | null; at: number | null } | undefined;
      // Even if the clock was set back, or the process restarted: a later change never has an earlier time.
      const at = Math.max(now, (last?.at ?? 0) + 1, earliest);
      const total = (last?.total ?? 0) + grown;
      const rows = Math.ceil(changed.length / CHANGE_PLANTS_MAX);
      const first = (last?.seq ?? 0) + 1;
      const number = of ? imports.note({ of, changed, at, first, last: first + rows - 1 }) : null;
      for (let row = 0; row < rows; row += 1) {
        const some = changed.slice(row * CHANGE_PLANTS_MAX, (row + 1) * CHANGE_PLANTS_MAX);
        const writers = toWriters(some.map(({ by }) => by));
        insert.run(first + row, toIds(some), total, toBefore(some), at + row, toKinds(some), writers, number);
      }
      return first + rows - 1;
    },
    forget: prepareForget(db),
  };
}

type OldRow = Readonly<{ seq: number; at: number; bytes: number | null }>;

/** Deletes what is no longer kept. */
function prepareForget(db: DatabaseSync) {
  const oldest = db.prepare("SELECT seq, coalesce(at, 0) AS at, octet_length(before) AS bytes FROM changes ORDER BY seq LIMIT ?");
  const remove = db.prepare("DELETE FROM changes WHERE seq < ?");
  const erase = db.prepare("UPDATE changes SET before = NULL WHERE seq = ? AND before IS NOT NULL");
  const removeImports = db.prepare("DELETE FROM imports WHERE last < (SELECT min(seq) FROM changes)");
  let days = 0;
  /** Read again after a deletion. */
  let oldestTwo: readonly OldRow[] = [];

  return {
    /** How long changes are kept, from now on. 0 keeps what the index needs. */
    keep: (kept: number) => void (days = kept),
    /**
     * Deletes what is too old and the index holds durably, the oldest first. The last of that stays, without what was there
     * before: a reader whose cursor leads there misses nothing yet. True if there is more to delete.
     */
    someRows({ indexed, now, rowsMax }: ForgetLimits): boolean {
      const since = days === 0 ? Infinity : now - days * DAY_US;
      // Where the clock was a day ahead or more when they were made, their age cannot be told.
      const isUndated = (at: number) => at > now + DAY_US;
      const isOld = ({ seq, at }: OldRow) => (isUndated(at) ? seq <= indexed - UNDATED_ROWS : at < since && seq <= indexed);
      if (oldestTwo.length < 2) oldestTwo = oldest.all(2) as OldRow[];
      const [first, second] = oldestTwo;
      if (!first || !isOld(first) || (first.bytes === null && !(second && isOld(second)))) return false;
      let last = first.seq;
      let bytes = 0;
      const rows = oldest.all(rowsMax + 1) as OldRow[];
      for (const row of rows) {
        if (!isOld(row) || bytes > FORGOTTEN_BYTES) break;
        last = row.seq;
        bytes += row.bytes ?? 0;
      }
      if (remove.run(last).changes > 0) removeImports.run();
      erase.run(last);
      // If this commit fails, they are still there.
      oldestTwo = [];
      return last === rows.at(-1)!.seq ? rows.length > rowsMax : bytes > FORGOTTEN_BYTES;
    },
  };
}

/** How many plants there are. */
export const TOTAL = "coalesce((SELECT total FROM changes ORDER BY seq DESC LIMIT 1), 0)";
