import { hash } from "node:crypto";
import type { Statement } from "./engine/pool.ts";
import type { ShardTable } from "./engine/shards.ts";
import { FIND_PLANTS } from "./plant-statements.ts";

/*
 * The statements on plants as they read and change the very tables of shards, on the worker of Citus that has them. Each
 * takes its parameters once for each table.
 */

/**
 * Returns a row of nulls if one of the shards is not there any more: its table may be, with what it had when it was
 * moved. Citus itself reads without a lock too. The planner must not see how many ids there are, hence the SELECT around
 * them: see `guardShards`.
 */
export function findInShards(tables: readonly ShardTable[]): Statement {
  const reads = tables.map(({ name }, at) => toTable(FIND_PLANTS, name, at).replace(/ANY\((.+)\)/, "ANY ((SELECT $1)::bigint[])"));
  return toStatement(FIND_PLANTS, [...reads, `SELECT NULL, NULL, NULL WHERE NOT ${areHere(tables)}`].join(" UNION ALL "));
}

/** Needs the guard of the shards that have the plants. */
export function changeInShards(statement: Statement, tables: readonly ShardTable[]): Statement {
  const changes = tables.map(({ name }, at) => `s${at} AS (${toTable(statement, name, at)})`);
  return toStatement(statement, `WITH ${changes.join()} ${tables.map((_, at) => `SELECT id FROM s${at}`).join(" UNION ALL ")}`);
}

/**
 * Takes the locks that Citus takes before it changes its shards: against the move and the split of a shard, and against
 * who locks the table, as an export does. Only behind them it is certain that the shards are here.
 */
export function guardShards(tables: readonly ShardTable[]): readonly string[] {
  const shareLock = 5;
  return [
    // Otherwise the planner plans a change of few plants again each time, to read a few rows less.
    "SET LOCAL plan_cache_mode TO force_generic_plan",
    `SELECT lock_relation_if_exists('store.plants', 'ROW EXCLUSIVE'), lock_shard_metadata(${shareLock}, ${toArray(tables)})`,
    `SELECT ${areHere(tables)}`,
  ];
}

/** Here, and nowhere else: Citus alone keeps copies alike. */
function areHere(tables: readonly ShardTable[]): string {
  const here = "count(*) FILTER (WHERE groupid = (SELECT groupid FROM pg_dist_local_group))";
  return `(SELECT (count(*), ${here}) = (${tables.length}, ${tables.length}) FROM pg_dist_placement WHERE shardid = ANY (${toArray(tables)}))`;
}

function toArray(tables: readonly ShardTable[]): string {
  return `'{${tables.map(({ shard }) => shard).join()}}'::bigint[]`;
}

/** A statement on one table, the one at this place among several. */
function toTable({ text }: Statement, name: string, at: number): string {
  const parameters = new Set(text.match(/\$\d+/g)).size;
  return text
    .replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + at * parameters}`)
    .replace(/(INTO|UPDATE|FROM) store\.plants\b/, (_, verb) => `${verb} ${name} AS plants`);
}

function toStatement({ name }: Statement, text: string): Statement {
  return { name: `${name}_${hash("sha1", text, "base64url")}`, text };
}
