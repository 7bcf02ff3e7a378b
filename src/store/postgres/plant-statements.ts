import type { Statement } from "./engine/pool.ts";

/*
 * The statements on plants, those that list them beside this file, in the SQL that PostgreSQL, Citus, CockroachDB and
 * YugabyteDB share: conflict targets are named, types are explicit, and no transaction needs a second statement or more
 * than READ COMMITTED. A test checks the other rules. Rows are passed as one array for each column, so that one prepared
 * statement serves a commit of any size.
 */

const NEW_PLANTS = `SELECT id, name, tag, words::tsvector, decode(name_key, 'hex')
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) AS v (id, name, tag, words, name_key)`;

/** Without the ids as a condition, a plan made on an empty table reads the whole table and is kept, and Citus asks every shard. */
const IS_EXPECTED = `plants.id = ANY($1::bigint[]) AND plants.id = v.id AND plants.name = v.name AND plants.tag IS NOT DISTINCT FROM v.tag`;

const INSERT = `INSERT INTO store.plants (id, name, tag, words, name_key)`;
const UNLESS_THERE = `ON CONFLICT (id) DO NOTHING RETURNING id`;

/** Takes ids, names, tags, words and keys of the names. Returns the ids that were created. */
export const INSERT_PLANTS = {
  name: "insert_plants",
  text: `${INSERT} ${NEW_PLANTS} ${UNLESS_THERE}`,
} as const satisfies Statement;

/** The same for Citus. Takes the id, name, tag, words and key of one plant after the other. */
export function insertRows(count: number): Statement {
  return { text: `${INSERT} ${listRows(count)} ${UNLESS_THERE}` };
}

function listRows(count: number): string {
  const rows = Array.from({ length: count }, (_, row) => {
    const [id, name, tag, words, key] = [1, 2, 3, 4, 5].map((column) => 5 * row + column);
    return `($${id}::bigint, $${name}::text, $${tag}::text, $${words}::tsvector, decode($${key}::text, 'hex'))`;
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
  text: `UPDATE store.plants SET tag = plants.tag FROM unnest($1::bigint[], $2::text[], $3::text[]) AS v (id, name, tag) WHERE ${IS_EXPECTED} RETURNING plants.id`,
} as const satisfies Statement;

/** `isLogged`: takes who makes each change too, behind the rest, and returns what the plant was, and whether it stays so. */
export function updateText(isLogged: boolean): string {
  const [writers, writer, before] = isLogged
    ? [", $8::text[]", ", writer", ", v.name, v.tag, v.writer, v.name = v.new_name AND v.tag IS NOT DISTINCT FROM v.new_tag AS is_same"]
    : ["", "", ""];
  return `UPDATE store.plants SET name = v.new_name, tag = v.new_tag, words = v.new_words::tsvector, name_key = decode(v.new_key, 'hex')
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]${writers})
      AS v (id, name, tag, new_name, new_tag, new_words, new_key${writer})
    WHERE ${IS_EXPECTED} RETURNING plants.id${before}`;
}

/** `isLogged`: takes who makes each change too, behind the rest, and returns what the plant was. */
export function deleteText(isLogged: boolean): string {
  const [writers, writer, before] = isLogged ? [", $4::text[]", ", writer", ", v.name, v.tag, v.writer"] : ["", "", ""];
  return `DELETE FROM store.plants USING unnest($1::bigint[], $2::text[], $3::text[]${writers}) AS v (id, name, tag${writer})
    WHERE ${IS_EXPECTED} RETURNING plants.id${before}`;
}

/** Takes expected ids, names and tags, then new names, tags, words and keys. Returns the ids of the plants that matched. */
export const UPDATE_PLANTS = { name: "update_plants", text: updateText(false) } as const satisfies Statement;

/** Takes the expected ids, names and tags. Returns the ids of the plants that matched. */
export const DELETE_PLANTS = { name: "delete_plants", text: deleteText(false) } as const satisfies Statement;

export const FIND_PLANTS = {
  name: "find_plants",
  text: `SELECT id, name, tag FROM store.plants WHERE id = ANY($1::bigint[])`,
} as const satisfies Statement;

/** For a store that is restored. Takes ids, names, tags, words, keys of the names, and times. */
export const RESTORE_PLANTS = {
  name: "restore_plants",
  text: `INSERT INTO store.plants (id, name, tag, words, name_key, added)
    SELECT id, name, tag, words::tsvector, decode(name_key, 'hex'), added
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[]) AS v (id, name, tag, words, name_key, added)`,
} as const satisfies Statement;

/** Returns the lowest id, if there is a plant. On Citus it asks each shard. */
export const FIRST_PLANT = { text: `SELECT id FROM store.plants ORDER BY id LIMIT 1` } as const satisfies Statement;
