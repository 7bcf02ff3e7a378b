import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Statement } from "./pool.ts";
import { PlantStoreError } from "../../../domain/errors.ts";
import { isConflict, isElsewhere, judge, LateError } from "./failure.ts";
import type { Health } from "./health.ts";

/** Runs a statement, and retries it after a failure that may pass. Rejects with an error that a caller may see. */
export type Execute = <Row extends unknown[]>(statement: Statement, values: readonly unknown[], how: ExecuteOptions) => Promise<Row[]>;

export type ExecuteOptions = Readonly<{
  /** How long the statement may take, in milliseconds. By default, the time left for all tries. */
  statementMs?: number;
  /** Whether it may run twice. If not, it is retried only when it is certain that nothing changed. */
  isRepeatable: boolean;
  /** Failures that the caller deals with. They are thrown as they are, and say nothing about the health of the database. */
  isExpected?: (thrown: unknown) => boolean;
}>;

type RetryOptions = Readonly<{
  database: Database;
  health: Health;
  /** The same of the servers behind this one, the workers of Citus. */
  behind?: Health | undefined;
  /** How long to retry, and to wait for a connection, in milliseconds. */
  retryMs: number;
}>;

const PAUSE_MS_BASE = 10;
const PAUSE_MS_MAX = 250;

/** How often a statement is retried after conflicts with concurrent work. */
const CONFLICTS_MAX = 5;

export function withRetries({ database, health, behind, retryMs }: RetryOptions): Execute {
  return async <Row extends unknown[]>(statement: Statement, values: readonly unknown[], how: ExecuteOptions) => {
    const { statementMs, isRepeatable, isExpected } = how;
    const until = performance.now() + retryMs;
    let conflicts = 0;
    for (let failed = 0; ; failed += 1) {
      const restMs = Math.max(1, until - performance.now());
      try {
        return await database.query<Row>(statement, values, { connectMs: restMs, statementMs: statementMs ?? restMs });
      } catch (thrown) {
        if (isExpected?.(thrown)) throw thrown;
        // A statement past its own limit was too much work. That says nothing about the health of the database.
        if (thrown instanceof LateError && statementMs !== undefined) throw new PlantStoreError("overloaded", { cause: thrown });
        const { error, isTransient, isUndone } = judge(thrown);
        if (isConflict(thrown)) conflicts += 1;
        const pauseMs = pauseOf(failed);
        const isLast = performance.now() + pauseMs >= until || conflicts > CONFLICTS_MAX;
        if (isTransient && (isUndone || isRepeatable) && !isLast) await sleep(pauseMs);
        else {
          const failing = isElsewhere(thrown) ? behind : health;
          if (error) failing?.failed(error, thrown);
          throw error ?? thrown;
        }
      }
    }
  };
}

/** Full jitter, so that callers that failed together do not retry together. */
function pauseOf(failed: number): number {
  return Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS_BASE * 2 ** failed);
}
