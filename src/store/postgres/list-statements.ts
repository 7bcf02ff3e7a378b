import type { SearchTerms } from "../../domain/terms.ts";
import { toColumn } from "./engine/text.ts";
import { toQuery } from "./plant-columns.ts";

/** Which plants are meant, besides their place. */
export type Filter = Readonly<{ tag: "any" | "none" | "given"; hasWords: boolean }>;

export function filterOf({ tag, words }: SearchTerms): Filter {
  return { tag: tag === undefined ? "any" : tag === null ? "none" : "given", hasWords: words.length > 0 };
}

/** What is true of these plants. `at`: the first parameter of the filter's values. Empty if all plants are meant. */
export function conditionOf({ tag, hasWords }: Filter, at: number): string {
  const isGiven = tag === "given";
  return [
    ...(isGiven ? [hasTag(at)] : tag === "none" ? ["tag IS NULL"] : []),
    ...(hasWords ? [`words @@ $${isGiven ? at + 1 : at}::tsquery`] : []),
  ].join(" AND ");
}

/** The filter's values: the tag and then the words, as far as they are given. */
export function filterValues({ tag, words }: SearchTerms): unknown[] {
  return [...(typeof tag === "string" ? [toColumn(tag)] : []), ...(words.length === 0 ? [] : [toQuery(words)])];
}

/**
 * The index finds an MD5, and then the tag itself is compared. Without CASE the planner would take the two conditions
 * for independent, expect almost no rows for any tag, and sort all plants of a frequent tag instead of reading them in
 * order.
 */
function hasTag(at: number): string {
  return `left(md5(tag), 15) = left(md5($${at}::text), 15) AND CASE WHEN tag = $${at}::text THEN true ELSE false END`;
}

const BYTES = `octet_length(name) + coalesce(octet_length(tag), 0)`;

/** What is asked of each plant: its name and tag unless they are large, or their bytes alone. */
const SMALL = `CASE WHEN ${BYTES} <= $3::bigint THEN name END AS name, CASE WHEN ${BYTES} <= $3::bigint THEN tag END AS tag`;
const SIZE = `${BYTES} AS bytes`;
export type Asked = typeof SMALL | typeof SIZE;

/** How to find plants: small ones as they are, and all of them with bytes and the columns of orders. `condition`: true of each. */
export type Finding = Readonly<{ small: (key: string) => string; sized: string; condition: string }>;

export function among(condition: string): Finding {
  const plants = `FROM store.plants WHERE ${condition}`;
  return { small: (key) => `SELECT id, ${SMALL}${key} ${plants}`, sized: `SELECT id, ${SIZE}, name_key, added ${plants}`, condition };
}

/** Among those that a limited statement finds. `first` is a condition on what it returns. */
export function within(part: (asked: Asked) => string, first: string, condition: string): Finding {
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
export function readPage({ small, sized, condition }: Finding, { by, sorting }: Readonly<{ by: string; sorting: string }>, key = "") {
  const page = `ORDER BY ${sorting} LIMIT $2::bigint`;
  const measured = `SELECT found, id, name, tag${key} FROM store.plants JOIN (
      SELECT id AS found_id, ${by} AS found_place, count(*) OVER () AS found FROM (
        SELECT *, sum(bytes) OVER (ORDER BY ${sorting} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes_before
        FROM (${sized} ${page}) AS sized
      ) AS summed WHERE coalesce(bytes_before, 0) < $3::bigint
    ) AS measured ON id = found_id AND ${by} IS NOT DISTINCT FROM found_place
    WHERE CASE WHEN ${condition} THEN true ELSE false END ORDER BY ${sorting}`;
  return { brief: { text: `${small(key)} ${page}` }, measured: { text: measured } };
}

const BY_ID = { by: "id", sorting: "id" } as const;

/**
 * Ways to read a page of what has some words. `near` and `far` look at so many plants for each one of the page, in the order
 * of their ids: where many have the words, that is enough. `sorted` puts all that have them into order, and `planned` leaves
 * it to the planner, which does not know how many words begin with a few letters, nor where their plants are.
 */
function searchFrom(from: string, sorting: string, tag: Filter["tag"]) {
  const ofTag = withFilter(from, { tag, hasWords: false });
  const words = conditionOf({ tag: "any", hasWords: true }, tag === "given" ? 5 : 4);
  const condition = `${ofTag} AND ${words}`;
  const look = (plants: number) => (asked: Asked) =>
    `SELECT id, ${asked}, name_key, added, ${words} AS is_found FROM store.plants WHERE ${ofTag} ORDER BY ${sorting} LIMIT ${plants} * $2::bigint`;
  const place = { by: "id", sorting };
  return {
    near: readPage(within(look(10), "is_found", condition), place),
    far: readPage(within(look(100), "is_found", condition), place),
    // No index has the order of a sum.
    sorted: readPage(among(condition), { by: "id", sorting: sorting.replace("id", "id + 0") }),
    planned: readPage(among(condition), place),
  };
}

function withFilter(from: string, filter: Filter): string {
  return [from, conditionOf(filter, 4)].filter(Boolean).join(" AND ");
}

/** Lists from an id on: up from there, or down. */
function listsFrom(from: string, sorting: string, name: string) {
  const listOf = (tag: Filter["tag"]) => readPage(among(withFilter(from, { tag, hasWords: false })), { by: "id", sorting });
  const { brief, measured } = listOf("any");
  return {
    plants: { any: { brief: { name, ...brief }, measured }, given: listOf("given"), none: listOf("none") },
    withWords: {
      any: searchFrom(from, sorting, "any"),
      given: searchFrom(from, sorting, "given"),
      none: searchFrom(from, sorting, "none"),
    },
  } as const;
}

/**
 * Take the first id, the number of plants, the bytes, and then the tag, the words, or both. The best plan for a tag depends on
 * its frequency, so only the statement without a filter has a name.
 */
export const LISTS = {
  ascending: listsFrom("id >= $1::bigint", "id", "list_plants"),
  descending: listsFrom("id <= $1::bigint", "id DESC", "list_plants_falling"),
} as const;

const UP_TO = "id >= $1::bigint AND id <= $4::bigint";

/** All plants up to an id. Takes the lowest id, the number of plants, the bytes, and that id. */
export const LIST_PLANTS_UP_TO = readPage(among(UP_TO), BY_ID);

/** The same with the times of their creates, for a backup, from an id on, or up to one too. */
export const LIST_DATED_PLANTS = readPage(among("id >= $1::bigint"), BY_ID, ", added");
export const LIST_DATED_PLANTS_UP_TO = readPage(among(UP_TO), BY_ID, ", added");
