import type { DatabaseSync } from "node:sqlite";
import type { Owner } from "../../runtime/fair-shares.ts";
import type { PastImport } from "../history.ts";
import type { Change } from "./log-row.ts";

/** The import that a commit belongs to, and who makes it. */
export type ImportOf = Readonly<{ id: string; by: Owner }>;

/** What a commit of it changed, in which rows, and when. */
type ImportNote = Readonly<{ of: ImportOf; changed: readonly Change[]; at: number; first: number; last: number }>;

/** Records what belongs to an import. Call it inside a transaction of the writer. */
export function prepareImportNotes(db: DatabaseSync) {
  const note = db.prepare(
    `INSERT INTO imports (id, writer, began, ended, created, replaced, first, last) VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7)
      ON CONFLICT (id) DO UPDATE SET ended = ?3, created = created + ?4, replaced = replaced + ?5, last = ?7
      RETURNING number`,
  );
  return {
    /** Returns the number that its rows have. */
    note({ of, changed, at, first, last }: ImportNote): number {
      const created = changed.filter(({ kind }) => kind === "created").length;
      const row = note.get(of.id, of.by, at, created, changed.length - created, first, last);
      return Number(row!["number"]);
    },
  };
}

type ImportRow = { id: string; writer: string; began: number; ended: number; created: number; replaced: number };

export function prepareImportReads(db: DatabaseSync) {
  const newest = db.prepare("SELECT id, writer, began, ended, created, replaced FROM imports ORDER BY last DESC LIMIT ?");
  const find = db.prepare("SELECT number, first, last FROM imports WHERE id = ?");
  return {
    list: (limit: number): PastImport[] => (newest.all(limit) as ImportRow[]).map(({ writer, ...rest }) => ({ ...rest, by: writer })),
    /** Its number, and the rows between which it has all of its own. */
    find: (id: string) => find.get(id) as Readonly<{ number: number; first: number; last: number }> | undefined,
  };
}
