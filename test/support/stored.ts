import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { plantOf } from "./flood.ts";
import type { Journal } from "./flood.ts";
import { queryOnce } from "./postgres/database-server.ts";

/** What is wrong with a store after a flood. */
export type Verdict = Readonly<{
  /** Plants that were answered 200 and are missing. */
  lost: readonly bigint[];
  /** Plants that were never sent, or not like that, or are there twice. */
  strange: readonly bigint[];
  /** What SQLite says of its file: "ok". */
  integrity: string;
}>;

export const SOUND: Verdict = { lost: [], strange: [], integrity: "ok" };

type Sent = Pick<Journal, "attempted" | "answered">;
type Row = Readonly<{ id: bigint; name: string; tag: string | null }>;

/**
 * Compares the plants of a data folder, from the first of the flood on, with its journal: answered ⊆ stored ⊆
 * attempted, and equal.
 */
export function judgeFolder(data: string, sent: Sent): Verdict {
  using db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  const find = db.prepare("SELECT id, name, tag FROM plants");
  find.setReadBigInts(true);
  const integrity = String(Object.values(db.prepare("PRAGMA integrity_check").get() ?? {})[0]);
  return { ...judge(find.all() as Row[], sent), integrity };
}

/** The same with the plants on PostgreSQL. */
export async function judgeDatabase(url: string, sent: Sent): Promise<Verdict> {
  const rows = await queryOnce(url, "SELECT id::text, name, tag FROM plants");
  return {
    ...judge(
      rows.map((row) => ({ ...row, id: BigInt(String(row["id"])) }) as Row),
      sent,
    ),
    integrity: "ok",
  };
}

function judge(rows: readonly Row[], { attempted, answered }: Sent): Pick<Verdict, "lost" | "strange"> {
  const stored = new Set<bigint>();
  const sent = new Set(attempted);
  const strange: bigint[] = [];
  for (const { id, name, tag } of rows.filter((row) => row.id >= (attempted[0] ?? 0n))) {
    const plant = plantOf(id);
    if (!sent.has(id) || stored.has(id) || name !== plant.name || tag !== plant.tag) strange.push(id);
    stored.add(id);
  }
  return { lost: answered.filter((id) => !stored.has(id)), strange };
}

export function countPlants(data: string): number {
  using db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  return Number(db.prepare("SELECT count(*) AS plants FROM plants").get()?.["plants"]);
}
