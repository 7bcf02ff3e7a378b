import type { CellRow, CellSource } from "./cells.ts";
import { countFilled, isLikeId } from "./cells.ts";
import { areJoined, invalidHeader, JOINED, nameByPosition, placeColumns, placeInOrder, toColumnName } from "./columns.ts";
import type { Places } from "./columns.ts";
import type { CsvOptions } from "./csv-options.ts";
import { toBytes } from "./encodings.ts";
import { UNUSED_MAX } from "./row.ts";
import type { Findings } from "./row.ts";

/** The places of the known columns, and the number of all columns. */
export type Layout = Places &
  Readonly<{
    columns: number;
    /** Whether each column is one that is imported. */
    isAllUsed: boolean;
    /** Notes, once for each column, that something in it was not read. */
    noteUnused: (at: number) => void;
  }>;

type LayoutOptions = Readonly<{ source: Omit<CellSource, "rows">; csv: CsvOptions; findings: Findings }>;

/** Finds the columns by the first row, and notes them. Throws `invalid_csv_header`. */
export function toLayout({ cells: first, faults }: CellRow, { source, csv, findings }: LayoutOptions): Layout {
  const { hasHeader, guess, ids } = csv;
  const choice = hasHeader || !guess || isLikeId(first[0]) || faults?.get(0) === "rounded" ? csv.columns : { id: "", ...csv.columns };
  const names = hasHeader ? first.map((cell) => toName(cell ?? "", source.decode)) : nameByPosition(countFilled(first), choice);
  findings.names = names;
  findings.delimiter = source.delimiter;
  const places = place();
  findings.places = places;
  function place(): Places {
    try {
      return (hasHeader ? placeColumns : placeInOrder)(names, { choice, guess, isWithoutIds: ids.kind !== "file" });
    } catch (thrown) {
      throw hasHeader && source.isOneLine && areJoined(names) ? invalidHeader(JOINED) : thrown;
    }
  }
  const noted = new Set<number>();
  function noteUnused(at: number): void {
    if (noted.has(at) || noted.size >= UNUSED_MAX) return;
    noted.add(at);
    findings.unusedColumns.push(toColumnName(names[at]!, at));
  }
  const used = new Set(Object.values(places).flat());
  const columns = countFilled(names);
  const unused = names.slice(0, columns).flatMap((_, at) => (used.has(at) ? [] : [at]));
  unused.forEach(noteUnused);
  return { ...places, columns, isAllUsed: unused.length === 0, noteUnused };
}

/** The name of a column is only compared and shown, so it may be mended. */
function toName(cell: string, decode: CellSource["decode"]): string {
  try {
    return decode(cell).trim();
  } catch {
    return new TextDecoder().decode(toBytes(cell)).trim();
  }
}
