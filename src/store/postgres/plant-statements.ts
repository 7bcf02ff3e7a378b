import type { Statement } from "./engine/pool.ts";

/*
 * Every statement on plants, in the SQL that PostgreSQL, Citus, CockroachDB and YugabyteDB share: conflict targets are
 * named, types are explicit, and no transaction needs a second statement or more than READ COMMITTED. A test checks the
 * other rules. Rows are passed as one array for each column, so that one prepared statement serves a commit of any
 * size.
 */

const NEW_PLANTS = `SELECT id, name, tag, words::tsvector FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS v (id, name, tag, words)`;
const EXPECTED_PLANTS = `unnest($1::bigint[], $2::text[], $3::text[]) AS v (id, name, tag)`;

/**
 * The ids are a condition of their own, though the join has them too. Without it, a plan that is made while the table
 * is empty reads the whole table and is kept, and Citus asks every shard.
 */
const IS_EXPECTED = `plants.id = ANY($1::bigint[]) AND plants.id = v.id AND plants.name = v.name AND plants.tag IS NOT DISTINCT FROM v.tag`;

const INSERT = `INSERT INTO plants (id, name, tag, words)`;
const UNLESS_THERE = `ON CONFLICT (id) DO NOTHING RETURNING id`;
const OR_REPLACE = `ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, tag = EXCLUDED.tag, words = EXCLUDED.words`;

/** Takes ids, names, tags and words. Returns the ids that were created. */
export const INSERT_PLANTS = {
  name: "insert_plants",
  text: `${INSERT} ${NEW_PLANTS} ${UNLESS_THERE}`,
} as const satisfies Statement;

/** Takes ids, names, tags and words. No id may occur twice. */
export const REPLACE_PLANTS = {
  name: "replace_plants",
  text: `${INSERT} ${NEW_PLANTS} ${OR_REPLACE}`,
} as const satisfies Statement;

/** The same for Citus. Take the id, name, tag and words of one plant after the other. */
export function insertRows(count: number): Statement {
  return { text: `${INSERT} ${listRows(count)} ${UNLESS_THERE}` };
}

export function replaceRows(count: number): Statement {
  return { text: `${INSERT} ${listRows(count)} ${OR_REPLACE}` };
}

function listRows(count: number): string {
  const rows = Array.from({ length: count }, (_, row) => {
    const [id, name, tag, words] = [4 * row + 1, 4 * row + 2, 4 * row + 3, 4 * row + 4];
    return `($${id}::bigint, $${name}::text, $${tag}::text, $${words}::tsvector)`;
  });
  return `VALUES ${rows.join()}`;
}

/**
 * Takes ids, names and tags. Returns the ids of the plants that are stored exactly so. It is a write, though it changes
 * nothing: when a connection breaks while its commit waits for the standby, others can see that commit before the
 * standby has it. The commit of a write waits for all that was committed before.
 */
export const CONFIRM_PLANTS = {
  name: "confirm_plants",
  text: `UPDATE plants SET tag = plants.tag FROM ${EXPECTED_PLANTS} WHERE ${IS_EXPECTED} RETURNING plants.id`,
} as const satisfies Statement;

/**
 * Takes the expected ids, names and tags, then the new names, tags and words. Returns the ids of the plants that
 * matched.
 */
export const UPDATE_PLANTS = {
  name: "update_plants",
  text: `UPDATE plants SET name = v.new_name, tag = v.new_tag, words = v.new_words::tsvector
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS v (id, name, tag, new_name, new_tag, new_words)
    WHERE ${IS_EXPECTED} RETURNING plants.id`,
} as const satisfies Statement;

/** Takes the expected ids, names and tags. Returns the ids of the plants that matched. */
export const DELETE_PLANTS = {
  name: "delete_plants",
  text: `DELETE FROM plants USING ${EXPECTED_PLANTS} WHERE ${IS_EXPECTED} RETURNING plants.id`,
} as const satisfies Statement;

export const FIND_PLANTS = {
  name: "find_plants",
  text: `SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])`,
} as const satisfies Statement;

/**
 * The index finds an MD5, and then the tag itself is compared. Without CASE the planner would take the two conditions
 * for independent, expect almost no rows for any tag, and sort all plants of a frequent tag instead of reading them in
 * order.
 */
const HAS_TAG = `left(md5(tag), 15) = left(md5($4::text), 15) AND CASE WHEN tag = $4::text THEN true ELSE false END`;

const BYTES = `octet_length(name) + coalesce(octet_length(tag), 0)`;

/**
 * Two ways to read the plants that match a condition. `brief` returns null for the name and tag of a plant larger than
 * $3 bytes. When all plants are small, it is enough. `measured` returns a page of $3 bytes, with the plant that fills
 * it and one more, which shows that there are others. It costs half as much again. Neither reads or sends a large text:
 * the server knows its length without reading it.
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

/**
 * Take the lowest id, the number of plants, the bytes, and then the tag, the words, or both. The best plan for a tag or
 * words depends on their frequency, so these statements have no name.
 */
export const LIST_PLANTS = {
  all: listWhere("", "list_plants"),
  ofTag: listWhere(` AND ${HAS_TAG}`),
  withWords: listWhere(" AND words @@ $4::tsquery"),
  ofTagWithWords: listWhere(` AND ${HAS_TAG} AND words @@ $5::tsquery`),
} as const satisfies Record<string, Readonly<Record<"brief" | "measured", Statement>>>;
