import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { plantOf } from "./flood.ts";
import type { Journal } from "./flood.ts";

/** What is wrong with a store after a flood. */
export type Verdict = Readonly<{
  /** Plants that were answered 200 and are missing. */
  lost: readonly bigint[];
  /** Plants that were never sent, or not like that. */
  strange: readonly bigint[];
  /** What SQLite says of its file: "ok". */
  integrity: string;
}>;

export const SOUND: Verdict = { lost: [], strange: [], integrity: "ok" };

type Row = Readonly<{ id: bigint; name: string; tag: string | null }>;

/**
 * Compares the plants of a data folder, from the first of the flood on, with its journal: answered ⊆ stored ⊆
 * attempted, and equal.
 */
export function judgeFolder(data: string, { attempted, answered }: Pick<Journal, "attempted" | "answered">): Verdict {
  const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  try {
    const find = db.prepare("SELECT id, name, tag FROM plants WHERE id >= ?");
    find.setReadBigInts(true);
    const rows = find.all(attempted[0] ?? 0n) as Row[];
    const stored = new Set(rows.map(({ id }) => id));
    const sent = new Set(attempted);
    const strange = rows.filter((row) => !sent.has(row.id) || !isAsSent(row)).map(({ id }) => id);
    const integrity = String(Object.values(db.prepare("PRAGMA integrity_check").get() ?? {})[0]);
    return { lost: answered.filter((id) => !stored.has(id)), strange, integrity };
  } finally {
    db.close();
  }
}

export function countPlants(data: string): number {
  const db = new DatabaseSync(join(data, "plants.db"), { readOnly: true });
  try {
    return Number(db.prepare("SELECT count(*) AS plants FROM plants").get()?.["plants"]);
  } finally {
    db.close();
  }
}

function isAsSent({ id, name, tag }: Row): boolean {
  const plant = plantOf(id);
  return name === plant.name && tag === plant.tag;
}
