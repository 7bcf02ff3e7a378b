import type { CsvReading } from "./row.ts";

/** How a service is told to read CSV: the parameters of an import. */
type CsvQuery = Readonly<{
  guess?: true;
  encoding?: "utf-8" | "windows-1252";
  idColumn?: string;
  nameColumn?: string;
  tagColumn?: string;
  ids?: "content";
  firstId?: bigint;
  dropEmptyTags?: true;
}>;

export function toCsvQuery({ columns: { id, name, tag }, ids, encoding, isGuessing, isEmptyTagNone }: CsvReading): CsvQuery {
  return {
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
