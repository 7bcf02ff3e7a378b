import type { Statement } from "./engine/pool.ts";

/*
 * Every statement on plants, in the SQL that PostgreSQL, Citus, CockroachDB and YugabyteDB have in common: conflicts with their
 * target named, types given, and nothing that would need more than one of them, or more than READ COMMITTED. A test looks for the rest.
 * Many rows come as one array a column, so that one prepared statement serves a commit of any size.
 */

const NEW_PLANTS = `SELECT id, name, tag, words::tsvector FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS v (id, name, tag, words)`;
const SEEN_PLANTS = `unnest($1::bigint[], $2::text[], $3::text[]) AS v (id, name, tag)`;
const IS_SEEN = `plants.id = v.id AND plants.name = v.name AND plants.tag IS NOT DISTINCT FROM v.tag`;

/** Takes ids, names, tags and words; gives the ids of those that were created. */
export const INSERT_PLANTS = {
  name: "insert_plants",
  text: `INSERT INTO plants (id, name, tag, words) ${NEW_PLANTS} ON CONFLICT (id) DO NOTHING RETURNING id`,
} as const satisfies Statement;

/**
 * Takes ids, names and tags; gives the ids of those plants that stand so. A write, though it changes nothing: what another connection committed can be seen before it
 * is on the standby too, when that connection broke while it waited. The commit of a write waits for all that was committed before.
 */
export const CONFIRM_PLANTS = {
  name: "confirm_plants",
  text: `UPDATE plants SET tag = plants.tag FROM ${SEEN_PLANTS} WHERE ${IS_SEEN} RETURNING plants.id`,
} as const satisfies Statement;

/** Takes ids, names, tags and words of plants, of which each id is there once. */
export const REPLACE_PLANTS = {
  name: "replace_plants",
  text: `INSERT INTO plants (id, name, tag, words) ${NEW_PLANTS}
    ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, tag = EXCLUDED.tag, words = EXCLUDED.words`,
} as const satisfies Statement;

/** Takes what the plants were seen to be, then their new names, tags and words; gives the ids of those that still were so. */
export const UPDATE_PLANTS = {
  name: "update_plants",
  text: `UPDATE plants SET name = v.new_name, tag = v.new_tag, words = v.new_words::tsvector
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS v (id, name, tag, new_name, new_tag, new_words)
    WHERE ${IS_SEEN} RETURNING plants.id`,
} as const satisfies Statement;

/** Takes what the plants were seen to be; gives the ids of those that still were so. */
export const DELETE_PLANTS = {
  name: "delete_plants",
  text: `DELETE FROM plants USING ${SEEN_PLANTS} WHERE ${IS_SEEN} RETURNING plants.id`,
} as const satisfies Statement;

export const FIND_PLANTS = {
  name: "find_plants",
  text: `SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])`,
} as const satisfies Statement;

/**
 * The index finds an MD5, and the tag itself is compared then. In CASE, as the planner would otherwise take the two conditions for independent, expect
 * almost nothing of any tag, and sort all of a frequent one in the place of going through its ids.
 */
const HAS_TAG = `left(md5(tag), 15) = left(md5($4::text), 15) AND CASE WHEN tag = $4::text THEN true ELSE false END`;

const BYTES = `octet_length(name) + coalesce(octet_length(tag), 0)`;

/**
 * Two ways to read the plants that fit a condition. `brief` gives null for the name of a plant with more bytes than it takes: of small plants, that
 * is all. `measured` gives plants as long as those but the last one before them have fewer bytes than it takes: a page, and the one more that tells
 * that there are others. It costs half more. Either way a large text is neither read nor sent: the server knows its length without that.
 */
function listWhere(condition: string, name?: string) {
  const found = `FROM plants WHERE id >= $1::bigint${condition} ORDER BY id LIMIT $2::bigint`;
  const brief = `SELECT id, CASE WHEN ${BYTES} <= $3::bigint THEN name END, CASE WHEN ${BYTES} <= $3::bigint THEN tag END ${found}`;
  const measured = `SELECT id, name, tag FROM (
      SELECT id, name, tag, sum(${BYTES}) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes_before
      FROM (SELECT id, name, tag ${found}) AS found
    ) AS measured WHERE coalesce(bytes_before, 0) < $3::bigint ORDER BY id`;
  return { brief: { ...(name === undefined ? {} : { name }), text: brief }, measured: { text: measured } };
}

/** Take the least id, how many, the bytes, and then the tag, the words, or both. What depends on their frequency is planned for the values at hand. */
export const LIST_PLANTS = {
  all: listWhere("", "list_plants"),
  ofTag: listWhere(` AND ${HAS_TAG}`),
  withWords: listWhere(" AND words @@ $4::tsquery"),
  ofTagWithWords: listWhere(` AND ${HAS_TAG} AND words @@ $5::tsquery`),
} as const satisfies Record<string, Readonly<Record<"brief" | "measured", Statement>>>;
