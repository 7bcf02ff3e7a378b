import type { DatabaseSync, StatementSync } from "node:sqlite";
import { PLANT_ID_MAX, PLANT_ID_MIN } from "../../plant.ts";
import type { TagCount } from "../tags.ts";
import { mostFrequent } from "../tags.ts";

/** Where a count continues: at this id of the tag or, without an id, at the next tag. */
export type TagCursor = Readonly<{ tag: string; id?: bigint }>;

export const FIRST_TAG: TagCursor = { tag: "", id: PLANT_ID_MIN };

/** The most frequent of some tags. The last one may continue in the next step; `next` says where that starts. */
export type TagStep = Readonly<{ counts: readonly TagCount[]; next: TagCursor | undefined }>;

/** Plants counted in one step. */
const STEP_COUNTED = 20_000;

type CountRow = { tag: string; plants: bigint; last: bigint };

/** Counts tags in short steps, so that other work of the thread can run in between. */
export function createTagCounter(db: DatabaseSync): (cursor: TagCursor) => TagStep {
  const inTag = prepareCount(db, "SELECT tag, id FROM plants WHERE tag = ? AND id >= ? ORDER BY id LIMIT ?");
  const afterTag = prepareCount(db, "SELECT tag, id FROM plants WHERE tag > ? ORDER BY tag, id LIMIT ?");
  return ({ tag, id }) => {
    if (id === undefined) {
      const rows = afterTag.all(tag, STEP_COUNTED) as CountRow[];
      const last = rows.pop();
      if (!last) return { counts: [], next: undefined };
      // Only the last tag continues in the next step; of the others the most frequent are enough.
      return { counts: [...mostFrequent(rows.map(toCount)), toCount(last)], next: cursorAfter(last) };
    }
    const [rest] = inTag.all(tag, id, STEP_COUNTED) as CountRow[];
    return { counts: rest ? [toCount(rest)] : [], next: rest?.plants === BigInt(STEP_COUNTED) ? cursorAfter(rest) : { tag } };
  };
}

function prepareCount(db: DatabaseSync, rows: string): StatementSync {
  const statement = db.prepare(`SELECT tag, count(*) AS plants, max(id) AS last FROM (${rows}) GROUP BY tag ORDER BY tag`);
  statement.setReadBigInts(true);
  return statement;
}

function cursorAfter({ tag, last }: CountRow): TagCursor {
  return last === PLANT_ID_MAX ? { tag } : { tag, id: last + 1n };
}

function toCount({ tag, plants }: CountRow): TagCount {
  return { tag, plants: Number(plants) };
}
