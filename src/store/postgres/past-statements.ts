import { CHANGES_BYTES_MAX } from "../history.ts";
import type { Statement } from "./engine/pool.ts";
import { joinPlant } from "./plant-columns.ts";

/* The statements of what people see of the log of changes, and of what is erased in it. */

/** Takes a place. Returns how many changes its row has. */
export const FIND_PLACE = {
  text: `SELECT changed FROM store.plant_changes WHERE xid = $1::text::xid8 AND at = $2::bigint`,
} as const satisfies Statement;

const ENTRIES = `unnest(c.ids, c.names, c.tags) WITH ORDINALITY AS e (id, name, tag, place)`;

const NEWEST_FIRST = "past.at DESC, past.xid DESC, past.place DESC";
/** How many rows are read one by one sooner than by the index. */
const FEW_ROWS = 5000;

const IS_ON_PAGE = (entry: string) => `(${entry}.id IN (SELECT id FROM page)) IS TRUE`;
const HAS_PLANT_OF_PAGE = `EXISTS (SELECT 1 FROM unnest(ids) AS i (id) WHERE ${IS_ON_PAGE("i")})`;
const TEXTS = ["past.name", "past.tag", "plants.name", "plants.tag", "past.later_name", "past.later_tag"];

/**
 * Entries as people see them, from a place (time, row, number in it) back, itself included: what a plant was before, what
 * it was before its next change, and what it is now. Later is what has a later time: see `logged`. Ends behind the entry that
 * brings its texts to CHANGES_BYTES_MAX; the last column is how many entries there are.
 *
 * An import may have changed thousands of plants that others have changed since. So each row that has one of the plants of
 * the page is read once, and a plant is looked for among them by its hash (`IS TRUE`), whatever the planner expects. The
 * index finds those rows only in a long log: the planner takes it too late, and without it `&&` compares each plant with each.
 * Rows of the page are taken until they have enough entries, if all of theirs are wanted.
 */
const back = (wanted: string, rows = wanted): Statement => ({
  text: `WITH page AS MATERIALIZED (
      SELECT c.at, c.xid, e.place, e.id
      FROM (
        SELECT *, sum(${rows === wanted ? "changed" : "1"}) FILTER (WHERE (at, xid) < ($1::bigint, $2::text::xid8))
          OVER (ORDER BY at DESC, xid DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS entries_before
        FROM (
          SELECT * FROM store.plant_changes WHERE ${rows} AND (at, xid) <= ($1::bigint, $2::text::xid8)
          ORDER BY at DESC, xid DESC LIMIT $4::bigint
        ) AS newest
      ) AS c CROSS JOIN unnest(c.ids) WITH ORDINALITY AS e (id, place)
      WHERE coalesce(entries_before, 0) < $4::bigint AND ${wanted} AND (c.at, c.xid, e.place) <= ($1::bigint, $2::text::xid8, $3::bigint)
      ORDER BY c.at DESC, c.xid DESC, e.place DESC LIMIT $4::bigint),
      log AS MATERIALIZED (SELECT count(*) <= ${FEW_ROWS} AS is_small FROM (SELECT FROM store.plant_changes LIMIT ${FEW_ROWS + 1}) AS first)
    SELECT * FROM (SELECT past.xid::text::bigint, past.place, past.at, past.kind, past.by, past.import, past.id, past.name, past.tag,
      plants.id IS NOT NULL, plants.name, plants.tag, past.later_kind, past.later_name, past.later_tag,
      sum(${TEXTS.map((text) => `coalesce(octet_length(${text}), 0)`).join(" + ")})
        OVER (ORDER BY ${NEWEST_FIRST} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes_before, count(*) OVER ()
    FROM (
      SELECT * FROM (
        SELECT c.xid, c.at, e.place, c.kind, coalesce(c.writers[e.place], c.writers[1]) AS by, c.import, e.id, e.name, e.tag,
          lead(c.kind) OVER next AS later_kind, lead(e.name) OVER next AS later_name, lead(e.tag) OVER next AS later_tag
        FROM (
          SELECT * FROM store.plant_changes WHERE (SELECT is_small FROM log) AND ${HAS_PLANT_OF_PAGE}
          UNION ALL
          SELECT * FROM store.plant_changes WHERE NOT (SELECT is_small FROM log) AND ids && ARRAY(SELECT id FROM page) AND ${HAS_PLANT_OF_PAGE}
        ) AS c CROSS JOIN ${ENTRIES}
        WHERE c.at + 0 >= (SELECT min(at) FROM page) AND ${IS_ON_PAGE("e")}
        WINDOW next AS (PARTITION BY e.id ORDER BY c.at, c.xid)
      ) AS entries
      WHERE ${wanted} AND (at, xid, place) <= ($1::bigint, $2::text::xid8, $3::bigint)
        AND (at, xid, place) >= (SELECT at, xid, place FROM page ORDER BY at, xid, place LIMIT 1)
    ) AS past ${joinPlant("past")} ORDER BY ${NEWEST_FIRST}
    ) AS page WHERE coalesce(bytes_before, 0) < ${CHANGES_BYTES_MAX}`,
});

/** These take a place, and how many. The first takes an id too, the last an import. */
export const CHANGES_OF_PLANT = back("id = $5::bigint", "ids @> ARRAY[$5::bigint]");
export const DELETIONS = back("kind = 'deleted'");
export const CHANGES_OF_IMPORT = back("import = $5::text");

/** Takes how many. */
export const LIST_IMPORTS = {
  text: `SELECT import, min(writers[1]), min(at), max(at), coalesce(sum(changed) FILTER (WHERE kind = 'created'), 0)::bigint,
      coalesce(sum(changed) FILTER (WHERE kind = 'replaced'), 0)::bigint
    FROM store.plant_changes WHERE import IS NOT NULL GROUP BY import ORDER BY max(at) DESC, import LIMIT $1::bigint`,
} as const satisfies Statement;

/** Takes an id. Erases the names and tags that this plant had. Returns a row for each. */
export const FORGET = {
  text: `UPDATE store.plant_changes AS c SET (names, tags) = (
      SELECT array_agg(CASE WHEN e.id = $1::bigint THEN NULL ELSE e.name END ORDER BY e.place),
        array_agg(CASE WHEN e.id = $1::bigint THEN NULL ELSE e.tag END ORDER BY e.place)
      FROM ${ENTRIES})
    WHERE c.ids @> ARRAY[$1::bigint] AND EXISTS (SELECT 1 FROM ${ENTRIES} WHERE e.id = $1::bigint AND e.name IS NOT NULL) RETURNING c.at`,
} as const satisfies Statement;
