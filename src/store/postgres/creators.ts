import type { Log } from "../../runtime/log.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";

/**
 * Takes schemas. Returns each of them, and of our tables, in which a role other than ours and the owner may create
 * functions or triggers, with those roles. Superusers may anyway.
 */
export const FIND_CREATORS = {
  text: `SELECT place, string_agg(CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee)::text END, ',' ORDER BY grantee) FROM (
      SELECT 'schema ' || nspname AS place, nspowner AS owner, (aclexplode(nspacl)).* FROM pg_namespace WHERE nspname::text = ANY($1::text[])
      UNION ALL
      SELECT 'table ' || relname, relowner, (aclexplode(relacl)).* FROM pg_class
        WHERE oid IN (to_regclass('store.plants'), to_regclass('store.tokens'), to_regclass('store.plant_store_schema'))
    ) AS granted
    WHERE privilege_type IN ('CREATE', 'TRIGGER')
      AND grantee NOT IN (owner, (SELECT oid FROM pg_roles WHERE rolname = current_user))
      AND NOT EXISTS (SELECT 1 FROM pg_roles WHERE oid = grantee AND rolsuper)
    GROUP BY place ORDER BY place`,
} as const satisfies Statement;

type Options = Readonly<{ execute: Execute; searched: string; log: Log }>;

/** Warns of roles that could have the service find tables of theirs at its next start, or run triggers of theirs as its user. */
export async function warnOfCreators({ execute, searched, log }: Options): Promise<void> {
  // A relative of PostgreSQL may have no such lists of rights.
  const rows = await execute<[place: string, roles: string]>(FIND_CREATORS, [searched], { isRepeatable: true }).catch(() => []);
  for (const [place, roles] of rows) log.warn("others_may_create", { place, roles: roles.split(",") });
}
