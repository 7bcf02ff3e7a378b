import { PlantStoreError } from "../domain/errors.ts";
import type { CellRow } from "./cell-row.ts";
import { JOINED, JOINED_PLANTS } from "./columns.ts";
import { toLayout } from "./csv-layout.ts";
import type { Layout, RowReading } from "./csv-layout.ts";
import { toRow } from "./csv-row.ts";
import type { Row } from "./row.ts";

/** Makes rows of cells, wherever they come from: the first ones name the columns, unless they are a plant already. */
export type TableReader = Readonly<{
  /** Undefined for the line that names the columns. Throws `invalid_csv_header`. */
  read: (row: CellRow) => Row | undefined;
  /** A row whose cells cannot be told. Throws `invalid_csv_header` if it should name the columns. */
  refuse: (line: number, refusal: PlantStoreError) => Row;
  /** Throws `invalid_csv_header` if no line named the columns, or its line has more than is imported and no row is below it. */
  end: () => void;
}>;

export function createTableReader(reading: RowReading): TableReader {
  const { isOneLine } = reading;
  const { hasHeader } = reading.csv;
  let layout: Layout | undefined;
  let count = 0n;

  function checkHeader(): void {
    if (!layout && hasHeader) throw new PlantStoreError("invalid_csv_header", isOneLine ? { message: JOINED } : {});
  }

  return {
    read(row) {
      const isFirst = layout === undefined;
      layout ??= toLayout(row, reading);
      if (isFirst && hasHeader) return undefined;
      if (isFirst && isOneLine && !layout.isAllUsed) throw new PlantStoreError("invalid_csv_header", { message: JOINED_PLANTS });
      count += 1n;
      return toRow(row, { ...reading, layout, count: count - 1n });
    },
    refuse(line, refusal) {
      checkHeader();
      count += 1n;
      return { line, refusal };
    },
    end() {
      checkHeader();
      if (hasHeader && count === 0n && layout?.isAllUsed === false) throw new PlantStoreError("invalid_csv_header", { message: JOINED });
    },
  };
}
