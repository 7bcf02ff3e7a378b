import type { Statement } from "./engine/pool.ts";

/** All indexes of our tables: whether each is valid, its kind, and the number by which the server knows it. */
export const LIST_INDEXES = {
  text: `SELECT quote_ident(relname), indisvalid AND indisready, amname, indexrelid::text FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
    WHERE indrelid IN (to_regclass('store.plants'), to_regclass('store.tokens'), to_regclass('store.plant_changes')) ORDER BY 1`,
} as const satisfies Statement;

/** The columns of our tables, with their types and whether they have a default. */
export const LIST_COLUMNS = {
  text: `SELECT relname || '.' || attname, format_type(atttypid, atttypmod), atthasdef FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE attrelid IN (to_regclass('store.plants'), to_regclass('store.tokens'), to_regclass('store.plant_changes')) AND attnum > 0 AND NOT attisdropped ORDER BY attrelid, attnum`,
} as const satisfies Statement;

/** Our tables that have no primary key. */
export const LIST_KEYLESS = {
  text: `SELECT relname FROM pg_class WHERE oid IN (to_regclass('store.plants'), to_regclass('store.tokens'), to_regclass('store.plant_changes'))
    AND NOT EXISTS (SELECT 1 FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)`,
} as const satisfies Statement;

/** What others run when our tables change. */
export const LIST_HOOKS = {
  text: `SELECT tgname FROM pg_trigger WHERE tgrelid IN (to_regclass('store.plants'), to_regclass('store.tokens'), to_regclass('store.plant_changes')) AND NOT tgisinternal
    UNION ALL SELECT conname FROM pg_constraint
    WHERE conrelid IN (to_regclass('store.plants'), to_regclass('store.tokens'), to_regclass('store.plant_changes')) AND contype IN ('c', 'f', 'u', 'x') ORDER BY 1`,
} as const satisfies Statement;

/** Whether indexes of text were built with another order of it than the system has now. PostgreSQL alone tells. */
export const IS_ORDER_OUTDATED = {
  text: `SELECT datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid) FROM pg_database WHERE datname = current_database()`,
} as const satisfies Statement;

/** How many pages the server has found damaged by their checksums. */
export const COUNT_DAMAGED_PAGES = {
  text: `SELECT coalesce(checksum_failures, 0) FROM pg_stat_database WHERE datname = current_database()`,
} as const satisfies Statement;

/** How many shards plants have. Only Citus knows the table. */
export const COUNT_SHARDS = {
  text: `SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = to_regclass('store.plants')`,
} as const satisfies Statement;

/** The schema of amcheck, if this user may use it. Every name is qualified: nodes of Citus run it with the user's search path. */
export const FIND_AMCHECK = {
  text: `SELECT pg_catalog.quote_ident(nspname)
    FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace ON pg_namespace.oid OPERATOR(pg_catalog.=) extnamespace
    WHERE extname OPERATOR(pg_catalog.=) 'amcheck' AND pg_catalog.has_function_privilege(
      pg_catalog.to_regprocedure(pg_catalog.format('%I.bt_index_check(pg_catalog.regclass, boolean)', nspname))::pg_catalog.oid, 'EXECUTE')`,
} as const satisfies Statement;

/** Takes the number of an index. Fails when it differs from its table. Behind a pooler it runs without our search path. */
export function checkIndex(amcheck: string): Statement {
  return { text: `SELECT ${amcheck}.bt_index_check($1::pg_catalog.oid::pg_catalog.regclass, true)` };
}

export const HAS_UNKEYED = { text: `SELECT EXISTS (SELECT 1 FROM store.plants WHERE name_key IS NULL)` } as const satisfies Statement;

/** Rows as they should be, and those that are not so. A plant that has changed meanwhile does not count. */
const SHOULD_BE = `unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) AS v (id, name, tag, words, name_key)`;
const IS_OTHERWISE = `plants.id = ANY($1::bigint[]) AND plants.id = v.id AND plants.name = v.name AND plants.tag IS NOT DISTINCT FROM v.tag
    AND (plants.words <> v.words::tsvector OR plants.name_key <> decode(v.name_key, 'hex'))`;

/** Take ids, names, tags, words and keys of the names. Return the ids of plants whose words or key are others. */
export const FIND_WRONG = { text: `SELECT plants.id FROM store.plants, ${SHOULD_BE} WHERE ${IS_OTHERWISE}` } as const satisfies Statement;
export const MEND_WRONG = {
  text: `UPDATE store.plants SET words = v.words::tsvector, name_key = decode(v.name_key, 'hex') FROM ${SHOULD_BE} WHERE ${IS_OTHERWISE} RETURNING plants.id`,
} as const satisfies Statement;
