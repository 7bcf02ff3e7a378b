import type { ParametersOf } from "../../contract/generated/operations.ts";
import type { ColumnChoice } from "./columns.ts";

/** Where rows without an id get one: nowhere, so that they are refused; from their content; or they are numbered from here on. */
export type Ids = Readonly<{ kind: "file" | "content" }> | Readonly<{ kind: "from"; first: bigint }>;

/** How to read CSV, or a sheet. */
export type CsvOptions = Readonly<{
  /** Whether the first line names the columns, and is no row. */
  hasHeader: boolean;
  columns: ColumnChoice;
  ids: Ids;
  /** Undefined if the first letter beyond ASCII shows it. */
  encoding: "utf-8" | "windows-1252" | undefined;
  /** Whether to take the likeliest columns by their names. */
  guess: boolean;
  /** Whether a quoted empty tag means none. */
  dropEmptyTags: boolean;
}>;

export const PLAIN: CsvOptions = {
  hasHeader: true,
  columns: {},
  ids: { kind: "file" },
  encoding: "utf-8",
  guess: false,
  dropEmptyTags: false,
};

/** The same as parameters of an import. */
export function toCsvQuery({ hasHeader, columns, ids, encoding, guess, dropEmptyTags }: CsvOptions): Partial<ParametersOf["importPlants"]> {
  const { id, name, tag } = columns;
  return {
    ...(hasHeader ? {} : { header: "absent" }),
    ...(guess ? { guess } : {}),
    ...(encoding === undefined ? {} : { encoding }),
    ...(id === undefined ? {} : { idColumn: id }),
    ...(name === undefined ? {} : { nameColumn: name }),
    ...(tag === undefined ? {} : { tagColumn: tag }),
    ...(ids.kind === "content" ? { ids: "content" } : {}),
    ...(ids.kind === "from" ? { firstId: ids.first } : {}),
    ...(dropEmptyTags ? { dropEmptyTags } : {}),
  };
}
