import { ORDERS } from "../page.ts";
import type { Order, Sorting } from "../page.ts";
import type { Statement } from "./engine/pool.ts";
import { among, conditionOf, readPage, within } from "./list-statements.ts";
import type { Asked, Filter } from "./list-statements.ts";

/**
 * The columns of the orders, each with an index; the text of a key, and a key that is given. A result that has no name of
 * its own would get that of its column, and the order would be that of the text.
 */
const COLUMNS = {
  name: { by: "name_key", key: "encode(name_key, 'hex')", given: "decode($1::text, 'hex')", end: "decode($5::text, 'hex')" },
  time: { by: "added", key: "added::text", given: "$1::text::bigint", end: "$5::text::bigint" },
} as const satisfies Record<Sorting["by"], unknown>;

/** How many plants that match may be put into order, and how many plants are looked at in order, in one statement. */
export const SORTED_MAX = 10_000;
export const LOOKED_AT_MAX = 1000;

/** A bound for either, with room for plants that are created between two statements of one page. */
const ROWS_MAX = 2 * SORTED_MAX;

function orderOf(order: Order) {
  const { ascending } = ORDERS[order];
  const { by, key, given, end } = COLUMNS[ORDERS[order].by];
  const sort = (direction: string) => `${by}${direction}, id${direction}`;
  return {
    by,
    key: `${key} AS key`,
    from: `(${by}, id) ${ascending ? ">=" : "<="} (${given}, $4::bigint)`,
    to: `(${by}, id) ${ascending ? "<=" : ">="} (${end}, $6::bigint)`,
    sorting: sort(ascending ? "" : " DESC"),
    back: sort(ascending ? " DESC" : ""),
  };
}

/** A page in an order. Takes the key of the first place, the number of plants, the bytes, and the id of that place. */
export function orderedPlants(order: Order) {
  const { from, key, ...place } = orderOf(order);
  return readPage(among(from), place, `, ${key}`);
}

/**
 * The same for those that match up to another place, whose key and id it takes too, and then the filter's values. The place
 * decides, not a number of plants: others may have been created on the way to it since it was found.
 */
export function orderedAhead(order: Order, filter: Filter) {
  const { from, to, key, ...place } = orderOf(order);
  const ahead = (asked: Asked) =>
    `SELECT id, ${asked}, name_key, added, ${conditionOf(filter, 7)} AS is_found FROM store.plants WHERE ${from} AND ${to} ORDER BY ${place.sorting} LIMIT ${ROWS_MAX}`;
  return readPage(within(ahead, "is_found", `${from} AND ${conditionOf(filter, 7)}`), place, `, ${key}`);
}

/** The same for all that match, of which there were at most SORTED_MAX when they were counted. */
export function orderedMatching(order: Order, filter: Filter) {
  const { from, key, ...place } = orderOf(order);
  const matching = (asked: Asked) =>
    `SELECT id, ${asked}, name_key, added FROM store.plants WHERE ${conditionOf(filter, 5)} LIMIT ${ROWS_MAX}`;
  return readPage(within(matching, from, `${from} AND ${conditionOf(filter, 5)}`), place, `, ${key}`);
}

/** Takes the key and id of a place. Returns the last of the next LOOKED_AT_MAX places, and how many there are. */
export function lastAhead(order: Order): Statement {
  const { by, key, from, sorting, back } = orderOf(order);
  return {
    text: `SELECT ${key}, id, count(*) OVER () FROM (
        SELECT ${by}, id FROM store.plants WHERE ${from.replace("$4", "$2")} ORDER BY ${sorting} LIMIT ${LOOKED_AT_MAX}
      ) AS ahead ORDER BY ${back} LIMIT 1`,
  };
}

/** Takes an id and a number. Returns plants from there without a key, in the order of their index, with what of the name a key needs. */
export const FIND_UNKEYED = {
  text: `SELECT id, left(name, 201) FROM store.plants WHERE name_key IS NULL AND id >= $1::bigint ORDER BY name_key, id LIMIT $2::bigint`,
} as const satisfies Statement;

/** Takes ids, the starts of names, and keys. Changes no plant that has another name now, or its key from another replica. */
export const SET_KEYS = {
  text: `UPDATE store.plants SET name_key = decode(v.name_key, 'hex') FROM unnest($1::bigint[], $2::text[], $3::text[]) AS v (id, name, name_key)
    WHERE plants.id = ANY($1::bigint[]) AND plants.id = v.id AND left(plants.name, 201) = left(v.name, 201)
      AND plants.name_key IS DISTINCT FROM decode(v.name_key, 'hex')`,
} as const satisfies Statement;
