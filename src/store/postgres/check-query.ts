import { sqlStateOf } from "./engine/failure.ts";
import type { Statement } from "./engine/pool.ts";
import type { Execute } from "./engine/retry.ts";

/** In milliseconds. */
export const STATEMENT_MS_MAX = 60_000;

/** Everything is read page by page, in no transaction: nobody waits for that, vacuum neither. */
export const CHECK_OPTIONS = { statementMs: STATEMENT_MS_MAX, isRepeatable: true };

/** False also where a PostgreSQL-compatible database does not support the query. */
export async function isTrue(execute: Execute, statement: Statement): Promise<boolean> {
  const [[answer] = []] = (await queryIfSupported<[answer: string | null]>(execute, statement)) ?? [];
  return answer === "t";
}

/** Undefined where a PostgreSQL-compatible database does not support the query. */
export async function queryIfSupported<Row extends unknown[]>(
  execute: Execute,
  statement: Statement,
  values: string[] = [],
): Promise<Row[] | undefined> {
  return execute<Row>(statement, values, CHECK_OPTIONS).catch((reason: unknown) => {
    if (sqlStateOf(reason)?.startsWith("42")) return undefined;
    throw reason;
  });
}
