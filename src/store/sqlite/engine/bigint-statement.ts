import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Prepares a statement whose integers are read as `bigint`: a number would be wrong beyond 2^53. */
export function prepareBigInts(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}
