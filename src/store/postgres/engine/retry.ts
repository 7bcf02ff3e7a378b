import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Statement } from "./pool.ts";
import { PlantStoreError } from "../../../errors.ts";
import { isConflict, judge, LateError } from "./failure.ts";
import type { Health } from "./health.ts";

/** Asks the database, and asks again what failed in a way that may pass. Rejects with what a caller may know. */
export type Ask = <Row extends unknown[]>(statement: Statement, values: readonly unknown[], how: AskOptions) => Promise<Row[]>;

export type AskOptions = Readonly<{
  /** How long the database may take for the statement; no longer than all tries together, unless said. In milliseconds. */
  statementMs?: number;
  /** Whether it may be done twice. If not, it is tried again only after what surely changed nothing. */
  isRepeatable: boolean;
}>;

type RetryOptions = Readonly<{
  database: Database;
  health: Health;
  /** How long it is tried, and a connection waited for, in milliseconds. */
  patienceMs: number;
}>;

const PAUSE_MS_BASE = 10;
const PAUSE_MS_MAX = 250;

/** How often work that others were in the way of is tried again. */
const CONFLICTS_MAX = 5;

export function askAgain({ database, health, patienceMs }: RetryOptions): Ask {
  return async <Row extends unknown[]>(statement: Statement, values: readonly unknown[], { statementMs, isRepeatable }: AskOptions) => {
    const until = performance.now() + patienceMs;
    let conflicts = 0;
    for (let failed = 0; ; failed += 1) {
      const restMs = Math.max(1, until - performance.now());
      try {
        const rows = await database.query<Row>(statement, values, { connectMs: restMs, statementMs: statementMs ?? restMs });
        health.succeeded({ isWrite: !statement.text.startsWith("SELECT") });
        return rows;
      } catch (thrown) {
        // What has a limit of its own was too much work for the database, which may be in the best of health.
        if (thrown instanceof LateError && statementMs !== undefined) throw new PlantStoreError("overloaded", { cause: thrown });
        const { error, isPassing, isUndone } = judge(thrown);
        if (isConflict(thrown)) conflicts += 1;
        const pauseMs = pauseOf(failed);
        const isLast = performance.now() + pauseMs >= until || conflicts > CONFLICTS_MAX;
        if (isPassing && (isUndone || isRepeatable) && !isLast) await sleep(pauseMs);
        else {
          if (error) health.failed(error, thrown);
          throw error ?? thrown;
        }
      }
    }
  };
}

/** Full jitter, so that those that failed together do not come back together. */
function pauseOf(failed: number): number {
  return Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS_BASE * 2 ** failed);
}
