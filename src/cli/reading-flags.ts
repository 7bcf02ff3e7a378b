import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import { parsePlantId } from "../domain/plant.ts";
import { findEncoding } from "../files/encoding/encodings.ts";
import type { ReadingJson } from "../files/reading/reading-json.ts";
import type { Asked, Ids, Quotes, Separator } from "../files/reading/reading.ts";
import { UnclearEncoding } from "../files/table-error.ts";

export type ReadingFlags = Readonly<{
  encoding?: string;
  separator?: Separator;
  quotes?: Quotes;
  heading?: number;
  /** False for `--no-header`, which is `--heading 0`. */
  header: boolean;
  sheet?: string;
  idColumn?: string;
  nameColumn?: readonly string[];
  tagColumn?: string;
  ids?: Ids;
  emptyNames?: true;
}>;

const SEPARATORS: Readonly<Record<string, Separator>> = {
  ",": ",",
  ";": ";",
  "|": "|",
  "\t": "\t",
  comma: ",",
  semicolon: ";",
  bar: "|",
  tab: "\t",
  none: "",
};

export function addReadingFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--encoding <name>", "encoding of a text, such as windows-1250 or euc-kr; by default, guessed").argParser(toEncoding),
    )
    .addOption(
      new Option("--separator <sign>", "what separates cells: `,` `;` `|` `tab`, or `none`: each line is a name").argParser(toSeparator),
    )
    .addOption(new Option("--quotes <kind>", "`double` around cells, or `none`: they belong to the text").choices(["double", "none"]))
    .addOption(new Option("--heading <line>", "the line that names the columns; 0 if none does").argParser(toLine))
    .option("--no-header", "the same as --heading 0: the first line is a plant")
    .option("--sheet <name>", "the sheet of a workbook")
    .option("--id-column <column>", "the column of the ids, by name or as in `column 4`; empty for none")
    .addOption(
      new Option("--name-column <column>", "the column of the names; several times for columns that make the name together").argParser(
        gather,
      ),
    )
    .option("--tag-column <column>", "the column of the tags; empty for none")
    .addOption(
      new Option(
        "--ids <from>",
        "ids for rows that have none: `content`, so that the same row always gets the same id; `file`, which refuses them; or the first number",
      ).argParser(toIds),
    )
    .option("--empty-names", "a row without a name is a plant");
}

function toEncoding(text: string): string {
  const encoding = findEncoding(text);
  if (encoding !== undefined) return encoding;
  throw new InvalidArgumentError("Use a name of the Encoding Standard, such as windows-1250, iso-8859-2, koi8-r, gb18030 or shift_jis.");
}

function toSeparator(text: string): Separator {
  const separator = SEPARATORS[text];
  if (separator !== undefined) return separator;
  throw new InvalidArgumentError("Use , or ; or | or tab or none.");
}

function toLine(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Use the number of a line, or 0.");
}

function gather(column: string, before: readonly string[] = []): readonly string[] {
  return [...before, column];
}

function toIds(text: string): Ids {
  const first = parsePlantId(text);
  if (first !== undefined) return { kind: "from", first };
  if (text === "content" || text === "file") return { kind: text };
  throw new InvalidArgumentError("Use content, file, or the first number.");
}

export function toAsked({ header, idColumn, nameColumn, tagColumn, heading, ...flags }: ReadingFlags): Asked {
  const { encoding, separator, quotes, sheet, ids, emptyNames } = flags;
  const line = header ? heading : 0;
  const asked = { encoding, separator, quotes, sheet, ids, emptyNames, heading: line, id: idColumn, name: nameColumn, tag: tagColumn };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

/** How a table was read, in the words of the flags. */
export function readingText({ encoding, separator, quotes, sheet, heading, id, name, tag, ids, firstId }: ReadingJson): string {
  const sign = Object.entries(SEPARATORS).findLast(([, one]) => one === separator)?.[0];
  const from = firstId === undefined ? (ids === "content" ? "made from the content" : "") : `numbers from ${firstId}`;
  return [
    ...(encoding === undefined || encoding === "utf-8" ? [] : [encoding]),
    ...(sheet === undefined ? [] : [`sheet ${sheet}`]),
    ...(sign === undefined ? [] : [`separator ${sign}`]),
    ...(quotes === "none" ? ["no quotes"] : []),
    heading === 0 ? "no heading" : `heading on line ${heading}`,
    `id: ${[id, from].filter((text) => text !== "").join(", else ")}`,
    `name: ${name.join(" + ")}`,
    ...(tag === "" ? [] : [`tag: ${tag}`]),
  ].join("; ");
}

/** What the interface says in its parameters, as flags. */
const IN_FLAGS: readonly (readonly [RegExp, string])[] = [
  [
    /^No column looks like one of names/,
    "No column looks like one of names: choose it with --name-column, or the line that names the columns with --heading.",
  ],
  [/^No row begins on the line/, "No row begins on the line of --heading: choose another line."],
  [/^No column holds ids/, "No column holds ids: choose one with --id-column, or leave out --ids file, so that they are made."],
  [/^The workbook has no sheet of that name/, "The workbook has no sheet of that name: choose another one with --sheet."],
];

/** An error of the import, with flags for parameters. */
export function inFlags(reason: unknown): unknown {
  if (reason instanceof UnclearEncoding) {
    const lines = reason.likely.map(({ encoding, words }) => `\n  --encoding ${encoding}: ${words}`);
    return new Error(
      `The encoding of the file is not clear. Choose the one that reads it right, or save the file as UTF-8:${lines.join("")}`,
      { cause: reason },
    );
  }
  const [, words] = IN_FLAGS.find(([pattern]) => reason instanceof Error && pattern.test(reason.message)) ?? [];
  return words === undefined ? reason : new Error(words, { cause: reason });
}
