import type { DatabaseSync } from "node:sqlite";
import { look } from "../check.ts";
import type { CheckStep } from "../check.ts";
import { fromBefore, fromIds, kindsFit } from "./log-row.ts";
import type { LogRow } from "./log-row.ts";

const STEP_ROWS = 5000;

type Row = LogRow & { seq: number };

/** Looks at all changes that are kept: for the search index, and for those who follow the store. */
export function* checkLog(db: DatabaseSync): Generator<CheckStep, void, void> {
  const faults = { cut: 0, unreadable: 0, late: 0 };
  let [rows, bytes, at] = [0, 0, 0];
  const all = db.prepare("SELECT seq, ids, at, kinds, writers, before FROM changes ORDER BY seq").iterate();
  for (const row of all as Iterable<Row>) {
    rows += 1;
    bytes += row.ids.length + (row.before?.length ?? 0);
    if (row.ids.length % 8 > 0) faults.cut += 1;
    else if (!isReadable(row)) faults.unreadable += 1;
    // Those from before the log have none.
    if (row.at === null ? at > 0 : row.at <= at) faults.late += 1;
    at = row.at ?? at;
    if (rows % STEP_ROWS > 0) continue;
    yield { kind: "progress", bytes };
    bytes = 0;
  }
  const { cut, unreadable, late } = faults;
  if (cut > 0) yield look("changes", "wrong", `${cut} rows for the search index are cut`);
  if (unreadable > 0) yield look("changes", "wrong", `${unreadable} rows cannot be read`);
  if (late > 0) yield look("changes", "wrong", `${late} rows are not later than the one before`);
  if (cut + unreadable + late === 0) yield look("changes", "ok", `${rows} rows`);
}

function isReadable(row: LogRow): boolean {
  try {
    const count = fromIds(row.ids).length;
    const before = fromBefore(row).length;
    if (row.at === null) return true;
    return kindsFit(row.kinds, { count, before });
  } catch {
    return false;
  }
}
