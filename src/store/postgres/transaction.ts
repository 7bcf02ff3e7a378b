import { judge } from "./engine/failure.ts";
import type { Database, Statement } from "./engine/pool.ts";
import type { Execute, ExecuteOptions } from "./engine/retry.ts";

const CONNECT_MS_MAX = 2000;
const STATEMENT_MS_MAX = 5000;

/** Runs statements in one transaction, on a connection of its own. Nothing can be tried again, and nothing is committed. */
export type Transaction = Readonly<{ execute: Execute; close(): void }>;

/** Begins a transaction with these statements, of which the first is BEGIN. Rejects with an error that a caller may see. */
export async function beginTransaction(
  database: Database,
  [begin, ...statements]: readonly [Statement, ...Statement[]],
): Promise<Transaction> {
  const session = await database.reserve(CONNECT_MS_MAX).catch(translate);
  const execute: Execute = <Row extends unknown[]>(statement: Statement, values: readonly unknown[], how: ExecuteOptions) =>
    session.query<Row>(statement, values, how.statementMs ?? STATEMENT_MS_MAX).catch(translate);
  try {
    await session.begin(begin, STATEMENT_MS_MAX).catch(translate);
    for (const statement of statements) await execute(statement, [], { isRepeatable: false });
  } catch (reason) {
    session.close();
    throw reason;
  }
  return { execute, close: session.close };
}

function translate(thrown: unknown): never {
  throw judge(thrown).error ?? thrown;
}
