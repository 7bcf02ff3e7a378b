import type { ColumnChoice } from "./columns.ts";

/**
 * Where the ids of rows without one come from: nowhere, so that they are refused; from their content; or they are
 * numbered from here on.
 */
export type Ids = Readonly<{ kind: "file" | "content" }> | Readonly<{ kind: "from"; first: bigint }>;

/** What a sender says about a file of CSV. */
export type CsvReading = Readonly<{
  /** Whether the first line names the columns, and is no row. */
  hasHeader: boolean;
  columns: ColumnChoice;
  ids: Ids;
  /** Undefined if the first letter beyond ASCII shows it. */
  encoding: "utf-8" | "windows-1252" | undefined;
  isGuessing: boolean;
  /** Whether a quoted empty tag means none. */
  isEmptyTagNone: boolean;
}>;

export const PLAIN: CsvReading = {
  hasHeader: true,
  columns: {},
  ids: { kind: "file" },
  encoding: "utf-8",
  isGuessing: false,
  isEmptyTagNone: false,
};
