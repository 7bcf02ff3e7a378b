import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { parsePlantId } from "../domain/plant.ts";
import { MISSING } from "../files/columns.ts";
import type { CsvOptions, Ids } from "../files/csv-options.ts";

export type CsvFlags = Readonly<{
  header: boolean;
  idColumn?: string;
  nameColumn?: string;
  tagColumn?: string;
  ids?: Ids;
  dropEmptyTags?: true;
  encoding?: "utf-8" | "windows-1252";
}>;

export function addCsvFlags(command: Command): Command {
  return command
    .option("--no-header", "the first line of CSV is a plant, as in `1,Monstera deliciosa,tropical`, and does not name the columns")
    .option("--id-column <column>", "the column of CSV that holds the ids, by name or as in `column 4`; empty for none")
    .option("--name-column <column>", "the column of CSV that holds the names")
    .option("--tag-column <column>", "the column of CSV that holds the tags; empty for none")
    .addOption(
      new Option(
        "--ids <from>",
        "ids for rows of CSV that have none: `content`, so that the same row always gets the same id, or the first number",
      ).argParser(toIds),
    )
    .option("--drop-empty-tags", 'treat a quoted empty tag ("") in CSV as no tag')
    .addOption(
      new Option("--encoding <encoding>", "encoding of CSV; by default, detected from its first letters").choices([
        "utf-8",
        "windows-1252",
      ]),
    );
}

function toIds(text: string): Ids {
  const first = parsePlantId(text);
  if (first !== undefined) return { kind: "from", first };
  if (text === "content") return { kind: "content" };
  throw new InvalidArgumentError("Use content, or the first number.");
}

export function toCsvOptions({ header, idColumn, nameColumn, tagColumn, ids, dropEmptyTags, encoding }: CsvFlags): CsvOptions {
  return {
    hasHeader: header,
    columns: {
      ...(idColumn === undefined ? {} : { id: idColumn }),
      ...(nameColumn === undefined ? {} : { name: nameColumn }),
      ...(tagColumn === undefined ? {} : { tag: tagColumn }),
    },
    ids: ids ?? { kind: "file" },
    encoding,
    guess: true,
    dropEmptyTags: dropEmptyTags ?? false,
  };
}

/** What the interface says of the first line, in its parameters, as flags. */
const IN_FLAGS = new Map<string, string>([
  [
    MISSING.named.both,
    "The first line does not name the columns `id` and `name`: name them, or choose others with --id-column and --name-column. If there are no ids, generate them with --ids content. If that line is a plant, use --no-header.",
  ],
  [
    MISSING.named.id,
    "The first line does not name the column `id`: name it, choose another with --id-column, or generate ids with --ids content.",
  ],
  [
    MISSING.named.name,
    "The first line does not name the column `name`: name it, or choose another with --name-column. If that line is a plant, use --no-header.",
  ],
  [
    MISSING.unnamed.both,
    'No column is taken for the id, and none for the name: choose them, as with --id-column "column 1" and --name-column "column 2".',
  ],
  [MISSING.unnamed.id, 'No column is taken for the id: choose one, as with --id-column "column 1", or generate ids with --ids content.'],
  [MISSING.unnamed.name, 'No column is taken for the name: choose one, as with --name-column "column 2".'],
]);

/** An error of the import, with flags for parameters. */
export function inFlags(reason: unknown): unknown {
  const words = reason instanceof Error ? IN_FLAGS.get(reason.message) : undefined;
  return words === undefined ? reason : new Error(words, { cause: reason });
}
