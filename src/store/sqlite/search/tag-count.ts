import type { DatabaseSync, StatementSync } from "node:sqlite";
import { PLANT_ID_MAX } from "../../../domain/plant.ts";
import type { TagCount } from "../../tags.ts";
import { prepareBigInts } from "../engine/requirements.ts";
import { TAG } from "./plant-tokens.ts";

/** Where a count continues: at this id of the tag with this token or, without an id, at the next token. */
export type TagCursor = Readonly<{ token: string; id?: bigint }>;

export const FIRST_TAG: TagCursor = { token: TAG };

/** Some tags. A count may continue that of the same tag before it, and in the next step; `next` says where that starts. */
export type TagStep = Readonly<{ counts: readonly TagCount[]; next: TagCursor | undefined }>;

/** How long a step takes, in milliseconds, and the characters of tags that end it sooner. */
const STEP_MS = 5;
const STEP_TAGS_CHARACTERS = 2 ** 20;

/** Plants that are grouped by their tags at once, and those of one tag that are counted at once, which costs a fifth. */
const GROUPED = 500;
const COUNTED = 100_000;

type Group = Readonly<{ token: string; tag: string; plants: bigint; last: bigint }>;

/** Counts tags in short steps, so that other work of the thread can run in between. */
export function createTagCounter(db: DatabaseSync): (cursor: TagCursor) => TagStep {
  db.exec("CREATE VIRTUAL TABLE temp.tag_tokens USING fts5vocab(main, names, instance)");
  const groups = prepareBigInts(
    db,
    `SELECT token, tag, plants, last
       FROM (SELECT term AS token, count(*) AS plants, max(doc) AS last
               FROM (SELECT term, doc FROM tag_tokens WHERE term >= ? AND term < '${TAG}~' LIMIT ${GROUPED}) GROUP BY term)
       JOIN words ON words.word = token ORDER BY token`,
  );
  // Most plants of a large catalogue are counted here.
  const within = prepareBigInts(
    db,
    `SELECT count(*) AS plants, max(id) AS last
       FROM (SELECT rowid AS id FROM names WHERE names MATCH ? AND rowid >= ? ORDER BY rowid LIMIT ${COUNTED})`,
  );
  const tagOf = db.prepare("SELECT tag FROM words WHERE word = ?");

  function countWithin(token: string, from: bigint): TagStep {
    const tag = tagOf.get(token)?.["tag"] as string | undefined;
    // All of its plants are gone since.
    if (tag === undefined) return { counts: [], next: { token } };
    const { plants, last } = within.get(`"${token}"`, from) as { plants: bigint; last: bigint | null };
    const counts = plants > 0n ? [{ tag, plants: Number(plants) }] : [];
    return { counts, next: plants < COUNTED ? { token } : cursorAfter({ token, last: last! }) };
  }

  return (cursor) => {
    const end = performance.now() + STEP_MS;
    const counts: TagCount[] = [];
    let characters = 0;
    let next: TagCursor | undefined = cursor;
    while (next && performance.now() < end && characters < STEP_TAGS_CHARACTERS) {
      const { token, id }: TagCursor = next;
      const step: TagStep = id === undefined ? countNext(groups, token) : countWithin(token, id);
      for (const count of step.counts) {
        counts.push(count);
        characters += count.tag.length;
      }
      next = step.next;
    }
    return { counts, next };
  };
}

/** Counts the tags behind a token, as many as are grouped at once. */
function countNext(groups: StatementSync, token: string): TagStep {
  const rows: Group[] = [];
  let characters = 0;
  // FTS5 would read all plants of the token itself, to begin behind it.
  for (const row of groups.iterate(`${token}0`) as Iterable<Group>) {
    rows.push(row);
    characters += row.tag.length;
    if (characters > STEP_TAGS_CHARACTERS) break;
  }
  const last = rows.at(-1);
  return { counts: rows.map(toTagCount), next: last && cursorAfter(last) };
}

function cursorAfter({ token, last }: Pick<Group, "token" | "last">): TagCursor {
  return last === PLANT_ID_MAX ? { token } : { token, id: last + 1n };
}

function toTagCount({ tag, plants }: Group): TagCount {
  return { tag, plants: Number(plants) };
}
