import type { Statement } from "./engine/pool.ts";

const COLUMNS = `id, name, hash, scopes, created, expires, revoked, parent, used`;

const INSERT = `INSERT INTO store.tokens (${COLUMNS})
    SELECT $1::text, $2::text, $3::text, $4::text, $5::bigint, $6::bigint, $7::bigint, $8::text, $9::bigint`;

/** Takes a row. Inserts nothing when the parent is revoked. */
export const INSERT_TOKEN = {
  name: "insert_token",
  text: `${INSERT} WHERE $8::text IS NULL OR EXISTS (SELECT 1 FROM store.tokens WHERE id = $8::text AND revoked IS NULL)
    ON CONFLICT (id) DO NOTHING RETURNING id`,
} as const satisfies Statement;

/** Takes the id and the hash. A write that changes nothing: see `CONFIRM_PLANTS` in plant-statements.ts. */
export const CONFIRM_TOKEN = {
  name: "confirm_token",
  text: `UPDATE store.tokens SET used = used WHERE id = $1::text AND hash = $2::text RETURNING id`,
} as const satisfies Statement;

export const FIND_TOKEN = {
  name: "find_token",
  text: `SELECT ${COLUMNS} FROM store.tokens WHERE hash = $1::text`,
} as const satisfies Statement;

/** Takes ids. */
export const NAME_TOKENS = {
  name: "name_tokens",
  text: `SELECT id, name FROM store.tokens WHERE id = ANY($1::text[])`,
} as const satisfies Statement;

export const LIST_TOKENS = {
  name: "list_tokens",
  text: `SELECT ${COLUMNS} FROM store.tokens ORDER BY created, convert_to(id, 'UTF8')`,
} as const satisfies Statement;

/** Takes a number. Returns so many of the first. */
export const LIST_FIRST_TOKENS = {
  name: "list_first_tokens",
  text: `SELECT ${COLUMNS} FROM store.tokens ORDER BY created, convert_to(id, 'UTF8') LIMIT $1::bigint`,
} as const satisfies Statement;

/** Takes a number and an id. Returns so many of those behind the token with the id: none if there is no such token. */
export const LIST_TOKENS_BEHIND = {
  name: "list_tokens_behind",
  text: `SELECT ${COLUMNS} FROM store.tokens
    WHERE (created, convert_to(id, 'UTF8')) > (SELECT created, convert_to(id, 'UTF8') FROM store.tokens WHERE id = $2::text)
    ORDER BY created, convert_to(id, 'UTF8') LIMIT $1::bigint`,
} as const satisfies Statement;

/** For a store that is restored. Takes a row. */
export const RESTORE_TOKEN = { text: INSERT } as const satisfies Statement;

export const REMOVE_TOKENS = { text: `DELETE FROM store.tokens` } as const satisfies Statement;

/** Takes the id. */
export const IS_TOKEN_REVOKED = {
  name: "is_token_revoked",
  text: `SELECT revoked IS NOT NULL FROM store.tokens WHERE id = $1::text`,
} as const satisfies Statement;

/**
 * Takes the id and the time. Returns whether the token was valid before. It also writes one that is revoked already: the
 * commit that revoked it may not be on the standby yet, and this one waits for it.
 */
export const REVOKE_TOKEN = {
  name: "revoke_token",
  text: `UPDATE store.tokens SET revoked = coalesce(revoked, $2::bigint) WHERE id = $1::text RETURNING revoked = $2::bigint`,
} as const satisfies Statement;

/** Takes the id and the time. UNION, unlike UNION ALL, ends even if parents form a circle. */
export const REVOKE_CHILDREN = {
  name: "revoke_children",
  text: `UPDATE store.tokens SET revoked = $2::bigint WHERE revoked IS NULL AND id IN (
      WITH RECURSIVE family (id) AS (
        SELECT id FROM store.tokens WHERE parent = $1::text UNION SELECT tokens.id FROM store.tokens JOIN family ON tokens.parent = family.id
      ) SELECT id FROM family
    ) RETURNING id`,
} as const satisfies Statement;

/** Takes ids, times, and how far ahead a stored use may be. The ids are also a condition of their own: see `IS_EXPECTED` in plant-statements.ts. */
export const TOUCH_TOKENS = {
  name: "touch_tokens",
  text: `UPDATE store.tokens SET used = seen.at FROM unnest($1::text[], $2::bigint[]) AS seen (id, at)
    WHERE tokens.id = ANY($1::text[]) AND tokens.id = seen.id
      AND (tokens.used IS NULL OR tokens.used NOT BETWEEN seen.at AND seen.at + $3::bigint)`,
} as const satisfies Statement;
