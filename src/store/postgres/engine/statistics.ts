import { sqlStateOf } from "./failure.ts";
import type { Run } from "./index-build.ts";
import type { Statement } from "./pool.ts";

export const STATISTICS = {
  areThere: (table: string, name: string) => ({
    text: `SELECT EXISTS (SELECT 1 FROM pg_statistic_ext WHERE stxrelid = to_regclass('${table}') AND stxname = '${name}')`,
  }),
} as const;

const FORM = /^CREATE STATISTICS IF NOT EXISTS store\.(?<name>\w+) ON .* FROM (?<table>store\.\w+)$/;

export function isStatistics({ text }: Statement): boolean {
  return FORM.test(text);
}

/**
 * Makes statistics unless they are there. Even to be told that they are, a statement would wait for a VACUUM. They only
 * make plans better, so a server that does not know them, or lets only the owner of the table make them, will do.
 */
export async function addStatistics(step: Statement, run: Run): Promise<void> {
  const { table = "", name = "" } = FORM.exec(step.text)?.groups ?? {};
  try {
    const [row] = await run<[areThere: string]>(STATISTICS.areThere(table, name));
    if (row?.[0] !== "t") await run(step);
  } catch (thrown) {
    if (sqlStateOf(thrown) === undefined) throw thrown;
  }
}
