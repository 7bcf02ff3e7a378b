import { DatabaseSync } from "node:sqlite";
import type { SQLOutputValue } from "node:sqlite";

/** As another program changes it. */
export function execute(path: string, sql: string): void {
  using db = new DatabaseSync(path);
  db.exec(sql);
}

export function read(path: string, sql: string): Record<string, SQLOutputValue>[] {
  using db = new DatabaseSync(path, { readOnly: true });
  return db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));
}
