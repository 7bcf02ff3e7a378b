import { setTimeout as sleep } from "node:timers/promises";
import { isLocked } from "./failure.ts";
import type { Migration } from "./index-build.ts";
import type { Statement } from "./pool.ts";

export const COLUMN = {
  isThere: (table: string, column: string) => ({
    text: `SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('store.${table}') AND attname = '${column}' AND NOT attisdropped)`,
  }),
} as const;

const FORM = /^ALTER TABLE store\.(?<table>\w+) ADD COLUMN IF NOT EXISTS (?<column>\w+) /;

/** Each try keeps others waiting for as long as it waits itself, so there are few of them. In milliseconds. */
const PAUSE_MS = 2000;

export function isColumn({ text }: Statement): boolean {
  return FORM.test(text);
}

/**
 * Adds a column unless it is there. That takes a moment, in which nobody may read the table, and an export reads it for
 * up to a quarter of an hour: this waits for its end. Even to be told that the column is there, a statement would wait.
 */
export async function addColumn(step: Statement, { run, log }: Migration): Promise<void> {
  const { table = "", column = "" } = FORM.exec(step.text)?.groups ?? {};
  while ((await run<[isThere: string]>(COLUMN.isThere(table, column)))[0]![0] !== "t") {
    try {
      await run(step);
    } catch (thrown) {
      if (!isLocked(thrown)) throw thrown;
      log.info("column_waiting", { table, column });
      await sleep(PAUSE_MS);
    }
  }
}
