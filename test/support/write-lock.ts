import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import pg from "pg";

/**
 * Blocks writes of plants and tokens, like the slowest possible disk, until the returned function is called. Reads go
 * on.
 */
export async function lockWrites({ data, database }: { data: string; database?: string }): Promise<() => Promise<void>> {
  if (database === undefined) {
    const other = new DatabaseSync(join(data, "plants.db"));
    other.exec("BEGIN IMMEDIATE");
    return () => Promise.resolve(other.close());
  }
  const other = new pg.Client(database);
  await other.connect();
  await other.query("BEGIN; LOCK TABLE plants, tokens IN SHARE MODE");
  return () => other.end();
}
