import type { CsvReading } from "./row.ts";

/** How a service is told to read CSV: the parameters of an import. */
type CsvQuery = Readonly<{
  header?: "absent";
  guess?: true;
  encoding?: "utf-8" | "windows-1252";
  idColumn?: string;
  nameColumn?: string;
  tagColumn?: string;
  ids?: "content";
  firstId?: bigint;
  dropEmptyTags?: true;
}>;

export function toCsvQuery({ hasHeader, columns: { id, name, tag }, ids, encoding, isGuessing, isEmptyTagNone }: CsvReading): CsvQuery {
  return {
    ...(hasHeader ? {} : { header: "absent" }),
    ...(isGuessing ? { guess: true } : {}),
    ...(encoding === undefined ? {} : { encoding }),
    ...(id === undefined ? {} : { idColumn: id }),
    ...(name === undefined ? {} : { nameColumn: name }),
    ...(tag === undefined ? {} : { tagColumn: tag }),
    ...(ids.kind === "content" ? { ids: "content" } : {}),
    ...(ids.kind === "from" ? { firstId: ids.first } : {}),
    ...(isEmptyTagNone ? { dropEmptyTags: true } : {}),
  };
}
