import type { DatabaseSync, StatementSync } from "node:sqlite";
import { SEARCHED_LENGTH_MAX } from "../../../domain/terms.ts";

/** A plant as it is indexed. */
export type PlantRow = { id: bigint; name: string; tag: string | null; added: bigint | null };

/** A character has at most four bytes. */
const NAME_BYTES = 4 * SEARCHED_LENGTH_MAX;

/**
 * The columns of a `PlantRow`. Only the start of a name counts, for a search and for its place. The substr of a text ends
 * at a NUL, that of an empty blob is null.
 */
export const INDEXED_COLUMNS = `id, CAST(coalesce(substr(CAST(name AS BLOB), 1, ${NAME_BYTES}), '') AS TEXT) AS name, tag, added`;

/** A change of a plant. `before`: what it was, unless it is new. */
export type Change = Readonly<{ id: bigint; before?: PlantRow }>;

/** What an index holds that holds no change. Changes are numbered from 1. */
export const NOTHING_INDEXED = 0;

/** Most ids in a row of changes: the indexer takes a row as a whole. */
const CHANGE_PLANTS_MAX = 20;

/**
 * Records what a transaction of the writer changes, inside that transaction, so that the index never misses a plant.
 */
export function prepareChanges(db: DatabaseSync) {
  const insert = prepareNote(db);
  const forget = db.prepare("DELETE FROM changes WHERE seq < ?");
  const forgetBefore = db.prepare("UPDATE changes SET before = NULL WHERE seq <= ? AND before IS NOT NULL");
  let forgotten: number = NOTHING_INDEXED;

  return {
    /** `grown`: by how many plants there are more than before. Returns the newest change; undefined if there is none. */
    note(changed: readonly Change[], grown: number): number | undefined {
      let newest: number | undefined;
      for (let at = 0; at < changed.length; at += CHANGE_PLANTS_MAX) {
        const some = changed.slice(at, at + CHANGE_PLANTS_MAX);
        const ids = BigInt64Array.from(some, ({ id }) => id);
        newest = Number(insert.run(new Uint8Array(ids.buffer), at === 0 ? grown : 0, toBefore(some)).lastInsertRowid);
      }
      return newest;
    },
    /** Deletes the changes up to the newest that the index holds durably, if it is a new one; of that, only what was there before. */
    forget(indexed: number): void {
      if (indexed > forgotten) {
        forget.run(indexed);
        forgetBefore.run(indexed);
      }
      // If this commit fails, the next deletion covers these rows too.
      forgotten = indexed;
    },
    /** The same at a stop, even if a commit failed that did it already. An older copy of the index finds its mark no more then. */
    forgetAll(indexed: number): void {
      forget.run(indexed);
      forgetBefore.run(indexed);
    },
  };
}

/** Each row has the sum of all rows up to it. */
function prepareNote(db: DatabaseSync): StatementSync {
  return db.prepare(`INSERT INTO changes (ids, total, before) SELECT ?1, ?2 + ${TOTAL}, ?3`);
}

/** A row of a change that made plants only has none. */
function toBefore(changes: readonly Change[]): string | null {
  const before = changes.flatMap((change) => change.before ?? []);
  if (before.length === 0) return null;
  return JSON.stringify(before.map(({ id, name, tag, added }) => [String(id), name, tag, added === null ? null : String(added)]));
}

/** What `toBefore` wrote. */
export function fromBefore(text: string | null): PlantRow[] {
  if (text === null) return [];
  const rows = JSON.parse(text) as [id: string, name: string, tag: string | null, added: string | null][];
  return rows.map(([id, name, tag, added]) => ({ id: BigInt(id), name, tag, added: added === null ? null : BigInt(added) }));
}

/** How many plants there are. */
export const TOTAL = "coalesce((SELECT total FROM changes ORDER BY seq DESC LIMIT 1), 0)";
