import { PlantStoreError } from "../domain/errors.ts";
import { toBytes } from "./byte-text.ts";
import type { CellRow } from "./cell-row.ts";
import type { DecodeCell } from "./cell-decoder.ts";
import { areJoined, JOINED, nameByPosition, placeColumns, placeInOrder, toColumnName } from "./columns.ts";
import type { Places } from "./columns.ts";
import { countFilled, isLikeId } from "./csv-cell.ts";
import type { CsvReading } from "./csv-reading.ts";
import { UNUSED_MAX } from "./row.ts";
import type { ReadOptions } from "./row.ts";

/** The places of the known columns, and the number of all columns. */
export type Layout = Places &
  Readonly<{
    columns: number;
    /** Whether each column is one that is imported. */
    isAllUsed: boolean;
    /** Reports, once for each column, that something in it was not read. */
    reportUnused: (at: number) => void;
  }>;

export type RowReading = Readonly<{
  decode: DecodeCell;
  csv: CsvReading;
  options: ReadOptions;
  /** What separates the cells, to be named in messages. */
  delimiter: string;
  /** Whether the file is one line without an end. */
  isOneLine: boolean;
}>;

/** What the first line says of the columns. Throws `invalid_csv_header`. */
export function toLayout({ cells: first, faults }: CellRow, { delimiter, decode, csv, options, isOneLine }: RowReading): Layout {
  const { onUnused, onNames = () => undefined, onPlaces = () => undefined } = options;
  const { hasHeader, isGuessing } = csv;
  const choice = hasHeader || !isGuessing || isLikeId(first[0]) || faults?.get(0) === "rounded" ? csv.columns : { id: "", ...csv.columns };
  const names = hasHeader ? first.map((cell) => toName(cell ?? "", decode)) : nameByPosition(countFilled(first), choice);
  onNames(names, delimiter);
  const places = place();
  onPlaces(places, names);
  function place(): Places {
    try {
      return (hasHeader ? placeColumns : placeInOrder)(names, { choice, isGuessing, isWithoutIds: csv.ids.kind !== "file" });
    } catch (thrown) {
      throw hasHeader && isOneLine && areJoined(names) ? new PlantStoreError("invalid_csv_header", { message: JOINED }) : thrown;
    }
  }
  const reported = new Set<number>();
  function reportUnused(at: number): void {
    if (reported.has(at) || reported.size >= UNUSED_MAX) return;
    reported.add(at);
    onUnused(toColumnName(names[at]!, at));
  }
  const used = new Set(Object.values(places).flat());
  const columns = countFilled(names);
  const unused = names.slice(0, columns).flatMap((_, at) => (used.has(at) ? [] : [at]));
  unused.forEach(reportUnused);
  return { ...places, columns, isAllUsed: unused.length === 0, reportUnused };
}

/** The name of a column is only compared and shown, so it may be mended. */
function toName(cell: string, decode: DecodeCell): string {
  try {
    return decode(cell).trim();
  } catch {
    return new TextDecoder().decode(toBytes(cell)).trim();
  }
}
