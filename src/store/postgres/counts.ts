import type { SearchTerms } from "../../domain/terms.ts";
import { COUNTED_MAX, TAGS_BYTES_MAX, TAGS_MAX, toCount } from "../tags.ts";
import type { FoundTags, TagCount, PlantCount } from "../tags.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";
import { SHARDS_HERE } from "./engine/shards.ts";
import { fromColumn } from "./engine/text.ts";
import { conditionOf, filterOf, filterValues } from "./list-statements.ts";

/** As long as a list may take, in milliseconds. */
const OPTIONS = {
  /** @limit PostgreSQL: duration of a count of plants, or of the tags of what matches */
  statementMs: 5000,
  isRepeatable: true,
} as const;

/** @limit PostgreSQL: duration of a count of all tags */
const COUNT_MS_MAX = 30_000;

/** From this many plants on, statistics are trusted. Below, plants are counted. */
const ESTIMATED_MIN = 2 * COUNTED_MAX;

/** Digits of an estimate that mean something. */
const DIGITS = 2;

/**
 * The plants as PostgreSQL counts them in passing: those that the last VACUUM or ANALYZE found, with every insert and
 * delete since. After a crash it has lost that count, until it has looked again. Then, as the planner estimates: the
 * plants that a page held when it last looked, times the pages that there are now. Below zero when it never has.
 */
const LIVE = `CASE
    WHEN coalesce(pg_catalog.pg_stat_get_last_vacuum_time(oid), pg_catalog.pg_stat_get_last_autovacuum_time(oid),
      pg_catalog.pg_stat_get_last_analyze_time(oid), pg_catalog.pg_stat_get_last_autoanalyze_time(oid)) IS NOT NULL
      THEN pg_catalog.pg_stat_get_live_tuples(oid)
    WHEN reltuples OPERATOR(pg_catalog.>=) 0 AND relpages OPERATOR(pg_catalog.>) 0
      THEN (reltuples::pg_catalog.float8 OPERATOR(pg_catalog./) relpages OPERATOR(pg_catalog.*) pg_catalog.pg_relation_size(oid)
        OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size')::bigint)::bigint
    ELSE -1 END`;

export const ESTIMATE_PLANTS = {
  text: `SELECT ${LIVE} FROM pg_class WHERE oid = to_regclass('store.plants')`,
} as const satisfies Statement;

/** The same on one node of Citus, where each shard is a table. */
const ESTIMATE_NODE = `SELECT CASE WHEN pg_catalog.min(live) OPERATOR(pg_catalog.<) 0 THEN -1 ELSE coalesce(pg_catalog.sum(live), 0) END FROM (
    SELECT ${LIVE} AS live FROM pg_catalog.pg_class JOIN (${SHARDS_HERE}) AS shard ON oid OPERATOR(pg_catalog.=) id
  ) AS shards`;

/** The same on all of them. To ask each shard would open a connection for each. */
export const ESTIMATE_SHARDS = {
  text: `SELECT CASE WHEN bool_and(success) AND min(result::float8) >= 0 THEN sum(result::float8)::bigint ELSE -1 END
    FROM run_command_on_all_nodes('${ESTIMATE_NODE.replaceAll("'", "''")}')`,
} as const satisfies Statement;

/** Makes the server walk an index up to the limit: otherwise a count of a tag of three million takes 0.6 s instead of 6 ms. */
const IN_INDEX = " ORDER BY id";

/** Takes the most to count, then the filter's values. */
export function countStatement(terms: SearchTerms): Statement {
  return { text: `SELECT count(*) FROM (${findStatement("1", terms)}) AS found` };
}

/** Compared as bytes, tags have one order everywhere. */
const MOST_FREQUENT = "plants DESC, convert_to(tag, 'UTF8')";

/** The rows of a statement that counts tags, as many as a list may have. `more`: further columns. */
function listTags(counted: string, more = ""): string {
  return `SELECT tag, plants${more} FROM (
      SELECT *, sum(octet_length(tag)) OVER (ORDER BY ${MOST_FREQUENT} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
      FROM (${counted} ORDER BY ${MOST_FREQUENT} LIMIT ${TAGS_MAX + 1}) AS counted
    ) AS measured WHERE coalesce(bytes_before, 0) < ${TAGS_BYTES_MAX} ORDER BY ${MOST_FREQUENT}`;
}

export const COUNT_TAGS = {
  name: "count_tags",
  text: listTags("SELECT tag, count(*) AS plants FROM store.plants WHERE tag IS NOT NULL GROUP BY tag"),
} as const satisfies Statement;

/** Takes the most to count, then the filter's values. Returns each tag with its plants, and all plants that were counted. */
export function countTagsStatement(terms: SearchTerms): Statement {
  return {
    text: listTags(
      `SELECT tag, count(*) AS plants, (sum(count(*)) OVER ())::bigint AS found FROM (${findStatement("tag", terms)}) AS found GROUP BY tag`,
      ", found",
    ),
  };
}

function findStatement(what: string, terms: SearchTerms): string {
  const filter = filterOf(terms);
  const condition = conditionOf(filter, 2);
  const isOfTag = filter.tag !== "any" && !filter.hasWords;
  return `SELECT ${what} FROM store.plants${condition === "" ? "" : ` WHERE ${condition}`}${isOfTag ? IN_INDEX : ""} LIMIT $1::bigint`;
}

/** Counts what matches, or takes all plants from the statistics if there are many. */
export async function countPlants(execute: Execute, terms: SearchTerms, estimate: Statement): Promise<PlantCount> {
  if (terms.tag === undefined && terms.words.length === 0) return countAll(execute, estimate);
  return toCount(await countUpTo(execute, terms, COUNTED_MAX + 1));
}

async function countAll(execute: Execute, estimate: Statement): Promise<PlantCount> {
  // A relative of PostgreSQL may have no such statistics.
  const [row] = await execute<[plants: bigint]>(estimate, [], OPTIONS).catch(() => []);
  const estimated = Number(row?.[0] ?? -1);
  if (estimated >= ESTIMATED_MIN) return { plants: rounded(estimated), precision: "about" };
  return toCount(await countUpTo(execute, { tag: undefined, words: [] }, ESTIMATED_MIN + 1), ESTIMATED_MIN);
}

/** How many plants match, up to so many. */
export async function countUpTo(execute: Execute, terms: SearchTerms, max: number): Promise<number> {
  const [row] = await execute<[plants: bigint]>(countStatement(terms), [max, ...filterValues(terms)], OPTIONS);
  return Number(row![0]);
}

export async function countTags(execute: Execute): Promise<TagCount[]> {
  const rows = await execute<[tag: string, plants: bigint]>(COUNT_TAGS, [], { statementMs: COUNT_MS_MAX, isRepeatable: true });
  return rows.slice(0, TAGS_MAX).map(([tag, plants]) => ({ tag: fromColumn(tag), plants: Number(plants) }));
}

/** Counts the tags of what matches. */
export async function countFoundTags(execute: Execute, terms: SearchTerms): Promise<FoundTags> {
  const values = [COUNTED_MAX + 1, ...filterValues(terms)];
  const rows = await execute<[tag: string | null, plants: bigint, all: bigint]>(countTagsStatement(terms), values, OPTIONS);
  const tags = rows.flatMap(([tag, plants]) => (tag === null ? [] : [{ tag: fromColumn(tag), plants: Number(plants) }]));
  return { ...toCount(Number(rows[0]?.[2] ?? 0)), tags: tags.slice(0, TAGS_MAX) };
}

function rounded(plants: number): number {
  return Number(plants.toPrecision(DIGITS));
}
