import type { ParametersOf } from "../../contract/generated/operations.ts";
import type { CsvReading } from "./csv-reading.ts";

/** How a service is told to read CSV: parameters of an import. */
export function toCsvQuery(reading: CsvReading): Partial<ParametersOf["importPlants"]> {
  const { hasHeader, columns, ids, encoding, isGuessing, isEmptyTagNone } = reading;
  const { id, name, tag } = columns;
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
