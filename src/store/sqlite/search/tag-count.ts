import type { DatabaseSync } from "node:sqlite";
import { PLANT_ID_MAX } from "../../../domain/plant.ts";
import { mostFrequent } from "../../tags.ts";
import type { TagCount } from "../../tags.ts";
import { prepareBigInts } from "../engine/requirements.ts";
import { TAG } from "./plant-tokens.ts";

/** Where a count continues: at this id of the tag with this token or, without an id, at the next token. */
export type TagCursor = Readonly<{ token: string; id?: bigint }>;

export const FIRST_TAG: TagCursor = { token: TAG };

/** The most frequent of some tags. The last one may continue in the next step; `next` says where that starts. */
export type TagStep = Readonly<{ counts: readonly TagCount[]; next: TagCursor | undefined }>;

/** Plants counted in one step, and characters of tags that end it sooner. */
const STEP_COUNTED = 20_000;
const STEP_TAGS_CHARACTERS = 2 ** 20;

type Group = Readonly<{ token: string; tag: string; plants: bigint; last: bigint }>;

/** Counts tags in short steps, so that other work of the thread can run in between. */
export function createTagCounter(db: DatabaseSync): (cursor: TagCursor) => TagStep {
  db.exec("CREATE VIRTUAL TABLE temp.tag_tokens USING fts5vocab(main, names, instance)");
  const groups = prepareBigInts(
    db,
    `SELECT token, tag, plants, last
       FROM (SELECT term AS token, count(*) AS plants, max(doc) AS last
               FROM (SELECT term, doc FROM tag_tokens WHERE term > ? AND term < '${TAG}~' LIMIT ${STEP_COUNTED}) GROUP BY term)
       JOIN words ON words.word = token ORDER BY token`,
  );
  // Most plants of a large catalogue are counted here. To skip them costs a fraction of grouping them.
  const further = prepareBigInts(
    db,
    `SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid >= ? ORDER BY rowid LIMIT 1 OFFSET ${STEP_COUNTED}`,
  );
  const rest = prepareBigInts(db, "SELECT count(*) AS plants FROM names WHERE names MATCH ? AND rowid >= ?");
  const tagOf = db.prepare("SELECT tag FROM words WHERE word = ?");

  function countWithin(token: string, from: bigint): TagStep {
    const tag = tagOf.get(token)?.["tag"] as string | undefined;
    // All of its plants are gone since.
    if (tag === undefined) return { counts: [], next: { token } };
    const next = further.get(`"${token}"`, from) as { id: bigint } | undefined;
    if (next) return { counts: [{ tag, plants: STEP_COUNTED }], next: { token, id: next.id } };
    const { plants } = rest.get(`"${token}"`, from) as { plants: bigint };
    return { counts: plants > 0n ? [{ tag, plants: Number(plants) }] : [], next: { token } };
  }

  return ({ token, id }) => {
    if (id !== undefined) return countWithin(token, id);
    const rows: Group[] = [];
    let characters = 0;
    for (const row of groups.iterate(token) as Iterable<Group>) {
      rows.push(row);
      characters += row.tag.length;
      if (characters > STEP_TAGS_CHARACTERS) break;
    }
    const last = rows.pop();
    if (!last) return { counts: [], next: undefined };
    // Only the last tag continues in the next step; of the others the most frequent are enough.
    return { counts: [...mostFrequent(rows.map(toTagCount)), toTagCount(last)], next: cursorAfter(last) };
  };
}

function cursorAfter({ token, last }: Group): TagCursor {
  return last === PLANT_ID_MAX ? { token } : { token, id: last + 1n };
}

function toTagCount({ tag, plants }: Group): TagCount {
  return { tag, plants: Number(plants) };
}
