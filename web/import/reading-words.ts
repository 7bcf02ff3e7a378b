import type { Reading, Separator } from "../../src/files/reading/reading.ts";
import { encodingName } from "./encodings.ts";

/** What separates the cells of a text. */
export const SEPARATOR_NAMES = {
  ",": "commas",
  ";": "semicolons",
  "\t": "tabs",
  "|": "bars",
  "": "nothing",
} as const satisfies Record<Separator, string>;

/** How a table is read, as in `UTF-8, separated by commas; names from Genus and Species; ids made from the content; no tags`. */
export function readingWords({ encoding, separator, quotes, sheet, heading, id, name, tag, ids }: Reading): string {
  const isList = separator === "" && heading === 0;
  const cells = [
    ...(encoding === undefined ? [] : [encodingName(encoding)]),
    ...(sheet === undefined ? [] : [`Sheet ${sheet}`]),
    ...(separator === undefined ? [] : [separator === "" ? "each line is one name" : `separated by ${SEPARATOR_NAMES[separator]}`]),
    ...(quotes === "none" ? ["quotes belong to the text"] : []),
    ...(isList ? [] : heading === 0 ? ["no line names the columns"] : heading === 1 ? [] : [`line ${heading} names the columns`]),
  ];
  const made = ids.kind === "from" ? `numbered from ${ids.first}` : "made from the content";
  const of = id === "" ? `ids ${made}` : `ids from ${id}${ids.kind === "file" ? "" : `, others ${made}`}`;
  const parts = [cells.join(", "), isList ? "" : `names from ${list(name)}`, of, tag === "" ? "no tags" : `tags from ${tag}`];
  return `${parts.filter((part) => part !== "").join("; ")}.`;
}

function list(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? "no column") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
