import type { Order } from "../page.ts";
import type { Statement } from "./engine/pool.ts";

/*
 * Every statement on plants, in the SQL that PostgreSQL, Citus, CockroachDB and YugabyteDB share: conflict targets are
 * named, types are explicit, and no transaction needs a second statement or more than READ COMMITTED. A test checks the
 * other rules. Rows are passed as one array for each column, so that one prepared statement serves a commit of any
 * size.
 */

const NEW_PLANTS = `SELECT id, name, tag, words::tsvector, decode(name_key, 'hex')
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) AS v (id, name, tag, words, name_key)`;
const EXPECTED_PLANTS = `unnest($1::bigint[], $2::text[], $3::text[]) AS v (id, name, tag)`;

/**
 * The ids are a condition of their own, though the join has them too. Without it, a plan that is made while the table
 * is empty reads the whole table and is kept, and Citus asks every shard.
 */
const IS_EXPECTED = `plants.id = ANY($1::bigint[]) AND plants.id = v.id AND plants.name = v.name AND plants.tag IS NOT DISTINCT FROM v.tag`;

const INSERT = `INSERT INTO plants (id, name, tag, words, name_key)`;
const UNLESS_THERE = `ON CONFLICT (id) DO NOTHING RETURNING id`;
const OR_REPLACE = `ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, tag = EXCLUDED.tag, words = EXCLUDED.words, name_key = EXCLUDED.name_key`;

/** Takes ids, names, tags, words and keys of the names. Returns the ids that were created. */
export const INSERT_PLANTS = {
  name: "insert_plants",
  text: `${INSERT} ${NEW_PLANTS} ${UNLESS_THERE}`,
} as const satisfies Statement;

/** Takes the same. No id may occur twice. */
export const REPLACE_PLANTS = {
  name: "replace_plants",
  text: `${INSERT} ${NEW_PLANTS} ${OR_REPLACE}`,
} as const satisfies Statement;

/** The same for Citus. Take the id, name, tag, words and key of one plant after the other. */
export function insertRows(count: number): Statement {
  return { text: `${INSERT} ${listRows(count)} ${UNLESS_THERE}` };
}

export function replaceRows(count: number): Statement {
  return { text: `${INSERT} ${listRows(count)} ${OR_REPLACE}` };
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
  text: `UPDATE plants SET tag = plants.tag FROM ${EXPECTED_PLANTS} WHERE ${IS_EXPECTED} RETURNING plants.id`,
} as const satisfies Statement;

/**
 * Takes the expected ids, names and tags, then the new names, tags, words and keys of the names. Returns the ids of the plants that
 * matched.
 */
export const UPDATE_PLANTS = {
  name: "update_plants",
  text: `UPDATE plants SET name = v.new_name, tag = v.new_tag, words = v.new_words::tsvector, name_key = decode(v.new_key, 'hex')
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
      AS v (id, name, tag, new_name, new_tag, new_words, new_key)
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
export function hasTag(at: number): string {
  return `left(md5(tag), 15) = left(md5($${at}::text), 15) AND CASE WHEN tag = $${at}::text THEN true ELSE false END`;
}

const HAS_TAG = hasTag(4);

const BYTES = `octet_length(name) + coalesce(octet_length(tag), 0)`;

/** What is asked of each plant: its name and tag unless they are large, or their bytes alone. */
const SMALL = `CASE WHEN ${BYTES} <= $3::bigint THEN name END AS name, CASE WHEN ${BYTES} <= $3::bigint THEN tag END AS tag`;
const SIZE = `${BYTES} AS bytes`;
type Asked = typeof SMALL | typeof SIZE;

/**
 * How to find plants: those that are small as they are, and all of them with their bytes and the columns of the orders.
 * `condition`: what is true of each.
 */
type Found = Readonly<{ small: (key: string) => string; sized: string; condition: string }>;

function among(condition: string): Found {
  const plants = `FROM plants WHERE ${condition}`;
  return { small: (key) => `SELECT id, ${SMALL}${key} ${plants}`, sized: `SELECT id, ${SIZE}, name_key, added ${plants}`, condition };
}

/** Among those that a limited statement finds. `first` is a condition on what it returns. */
function within(part: (asked: Asked) => string, first: string, condition: string): Found {
  return {
    small: (key) => `SELECT id, name, tag${key} FROM (${part(SMALL)}) AS part WHERE ${first}`,
    sized: `SELECT id, bytes, name_key, added FROM (${part(SIZE)}) AS part WHERE ${first}`,
    condition,
  };
}

/**
 * Two ways to read the plants that are found. `brief` returns null for the name and tag of a plant larger than $3 bytes.
 * When all plants are small, it is enough. `measured` returns a page of $3 bytes, with the plant that fills it and one
 * more, which shows that there are others; and in front of each how many it found. Neither reads or sends a large text that
 * is not on the page: the server knows its length without reading it.
 *
 * On Citus, each shard sends what it finds to the node that was asked, so the texts are read afterwards. A plant that was
 * deleted in between, or has another place now or does not match any more, is left out, and the number tells. CASE keeps
 * the condition from being looked up again.
 */
function readPage({ small, sized, condition }: Found, { by, sorting }: Readonly<{ by: string; sorting: string }>, key = "") {
  const page = `ORDER BY ${sorting} LIMIT $2::bigint`;
  const measured = `SELECT found, id, name, tag${key} FROM plants JOIN (
      SELECT id AS found_id, ${by} AS found_place, count(*) OVER () AS found FROM (
        SELECT *, sum(bytes) OVER (ORDER BY ${sorting} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes_before
        FROM (${sized} ${page}) AS sized
      ) AS summed WHERE coalesce(bytes_before, 0) < $3::bigint
    ) AS measured ON id = found_id AND ${by} IS NOT DISTINCT FROM found_place
    WHERE CASE WHEN ${condition} THEN true ELSE false END ORDER BY ${sorting}`;
  return { brief: { text: `${small(key)} ${page}` }, measured: { text: measured } };
}

const BY_ID = { by: "id", sorting: "id" } as const;

function listWhere(condition: string, name?: string) {
  const { brief, measured } = readPage(among(`id >= $1::bigint${condition}`), BY_ID);
  return { brief: { ...(name === undefined ? {} : { name }), ...brief }, measured };
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
  withoutTag: listWhere(" AND tag IS NULL"),
  withoutTagWithWords: listWhere(" AND tag IS NULL AND words @@ $4::tsquery"),
} as const satisfies Record<string, Readonly<Record<"brief" | "measured", Statement>>>;

/** All plants with the times of their creates, for a backup. Take the lowest id, the number of plants and the bytes. */
export const LIST_DATED_PLANTS = readPage(among("id >= $1::bigint"), BY_ID, ", added");

/** For a store that is restored. Takes ids, names, tags, words, keys of the names, and times. */
export const RESTORE_PLANTS = {
  name: "restore_plants",
  text: `INSERT INTO plants (id, name, tag, words, name_key, added)
    SELECT id, name, tag, words::tsvector, decode(name_key, 'hex'), added
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[]) AS v (id, name, tag, words, name_key, added)`,
} as const satisfies Statement;

/** Returns the lowest id, if there is a plant. On Citus it asks each shard. */
export const FIRST_PLANT = { text: `SELECT id FROM plants ORDER BY id LIMIT 1` } as const satisfies Statement;

/**
 * What plants are ordered by, with an index: the direction, the text of a key, and a key that is given. A result that has
 * no name of its own would get that of its column, and the order would be that of the text.
 */
const ORDERS = {
  name: { by: "name_key", isRising: true, key: "encode(name_key, 'hex')", given: "decode($1::text, 'hex')" },
  newest: { by: "added", isRising: false, key: "added::text", given: "$1::text::bigint" },
} as const satisfies Record<Order, unknown>;

/** Which plants are meant, besides their place: values behind the others, the tag and then the words. */
export type Filter = Readonly<{ tag: "any" | "none" | "given"; hasWords: boolean }>;

function conditionsOf({ tag, hasWords }: Filter, at: number): string {
  const isGiven = tag === "given";
  return [
    ...(isGiven ? [hasTag(at)] : tag === "none" ? ["tag IS NULL"] : []),
    ...(hasWords ? [`words @@ $${isGiven ? at + 1 : at}::tsquery`] : []),
  ].join(" AND ");
}

/** How many plants that match may be put into order, and how many plants are looked at in order, in one statement. */
export const SORTED_MAX = 10_000;
export const LOOKED_AT_MAX = 1000;

function orderOf(order: Order) {
  const { by, isRising } = ORDERS[order];
  const direction = isRising ? "" : " DESC";
  return {
    by,
    from: `(${by}, id) ${isRising ? ">=" : "<="} (${ORDERS[order].given}, $4::bigint)`,
    sorting: `${by}${direction}, id${direction}`,
  };
}

/** A page in an order. Takes the key of the first place, the number of plants, the bytes, and the id of that place. */
export function orderedPlants(order: Order) {
  const { from, ...place } = orderOf(order);
  return readPage(among(from), place, `, ${ORDERS[order].key} AS key`);
}

/** The same for those among the next LOOKED_AT_MAX plants that match. Takes the filter's values too. */
export function orderedAhead(order: Order, filter: Filter) {
  const { from, ...place } = orderOf(order);
  const ahead = (asked: Asked) =>
    `SELECT id, ${asked}, name_key, added, ${conditionsOf(filter, 5)} AS is_found FROM plants WHERE ${from} ORDER BY ${place.sorting} LIMIT ${LOOKED_AT_MAX}`;
  return readPage(within(ahead, "is_found", `${from} AND ${conditionsOf(filter, 5)}`), place, `, ${ORDERS[order].key} AS key`);
}

/** The same for all that match, of which there are at most SORTED_MAX. */
export function orderedMatching(order: Order, filter: Filter) {
  const { from, ...place } = orderOf(order);
  const matching = (asked: Asked) =>
    `SELECT id, ${asked}, name_key, added FROM plants WHERE ${conditionsOf(filter, 5)} LIMIT ${SORTED_MAX}`;
  return readPage(within(matching, from, `${from} AND ${conditionsOf(filter, 5)}`), place, `, ${ORDERS[order].key} AS key`);
}

/**
 * Behind a condition on the tag alone, makes the server walk an index, and stop at the limit. Otherwise it first notes
 * where all plants of a frequent tag are: of three million in 0.6 s instead of 6 ms.
 */
export const IN_INDEX = " ORDER BY id";

/** Takes the filter's values. Returns how many plants match, up to one more than `max`. */
export function countMatching(filter: Filter, max: number): Statement {
  const matching = `SELECT 1 FROM plants WHERE ${conditionsOf(filter, 1)}${filter.hasWords ? "" : IN_INDEX}`;
  return { text: `SELECT count(*) FROM (${matching} LIMIT ${max + 1}) AS matching` };
}

/** Takes the key and id of a place. Returns the last of the next LOOKED_AT_MAX places, and how many there are. */
export function lastAhead(order: Order): Statement {
  const { by, isRising, key } = ORDERS[order];
  const { from, sorting } = orderOf(order);
  const back = isRising ? " DESC" : "";
  return {
    text: `SELECT ${key} AS key, id, count(*) OVER () FROM (
        SELECT ${by}, id FROM plants WHERE ${from.replace("$4", "$2")} ORDER BY ${sorting} LIMIT ${LOOKED_AT_MAX}
      ) AS ahead ORDER BY ${by}${back}, id${back} LIMIT 1`,
  };
}

/**
 * Takes an id and a number. Returns plants from that id on that have no key yet, with as much of their name as a key
 * depends on, in the order of the index that knows them.
 */
export const FIND_UNKEYED = {
  text: `SELECT id, left(name, 201) FROM plants WHERE name_key IS NULL AND id >= $1::bigint ORDER BY name_key, id LIMIT $2::bigint`,
} as const satisfies Statement;

/** Takes ids, the starts of names, and keys. Changes no plant that has another name now, or its key from another replica. */
export const SET_KEYS = {
  text: `UPDATE plants SET name_key = decode(v.name_key, 'hex') FROM unnest($1::bigint[], $2::text[], $3::text[]) AS v (id, name, name_key)
    WHERE plants.id = ANY($1::bigint[]) AND plants.id = v.id AND left(plants.name, 201) = left(v.name, 201)
      AND plants.name_key IS DISTINCT FROM decode(v.name_key, 'hex')`,
} as const satisfies Statement;
