import type { Schemas } from "../../../contract/generated/schemas.ts";
import { invalidQuery } from "../../domain/errors.ts";
import { isObject, parseJson } from "../../domain/json.ts";
import { findEncoding } from "../encoding/encodings.ts";
import { SEPARATORS } from "./reading.ts";
import type { Asked, Ids, Reading } from "./reading.ts";

export type ReadingJson = Schemas["Reading"];

/** A reading as the interface has it. */
export function toReadingJson({ ids, ...reading }: Reading): ReadingJson {
  return { ...reading, ...(ids.kind === "from" ? { firstId: ids.first } : { ids: ids.kind }) };
}

type Member<Value> = readonly [what: string, read: (value: unknown) => Value | undefined];
type Members = { [Name in keyof ReadingJson]-?: Member<ReadingJson[Name]> };

const COLUMN: Member<string> = ["a text: the name of a column, its position as in `column 4`, or nothing", toText];

/** What each member may be, and its value; undefined for anything else. */
const MEMBERS: Readonly<Members> = {
  encoding: ["a name of the Encoding Standard, such as windows-1250", (value) => findEncoding(toText(value) ?? "")],
  separator: ["`,` `;` `|` a tab, or an empty text", (value) => SEPARATORS.find((separator) => separator === value)],
  quotes: ["double or none", (value) => (value === "double" || value === "none" ? value : undefined)],
  heading: ["the number of a line, or 0", toLine],
  sheet: ["a text: the name of a sheet", toText],
  id: COLUMN,
  name: ['a list of columns, such as ["Genus","Species"]', toColumns],
  tag: COLUMN,
  ids: ["file or content", (value) => (value === "file" || value === "content" ? value : undefined)],
  firstId: ["a whole number of 64 bits", (value) => (typeof value === "bigint" ? value : undefined)],
  emptyNames: ["true or false", (value) => (typeof value === "boolean" ? value : undefined)],
};

/** How a table is to be read, from the text of the parameter. Throws `invalid_query`. */
export function parseReading(text: string): Asked {
  const members = Object.entries(parse(text)).map(([name, value]) => {
    if (!Object.hasOwn(MEMBERS, name))
      throw invalidQuery(`The query parameter \`reading\` has an unknown member: send only ${Object.keys(MEMBERS).join(", ")}.`);
    const [what, read] = MEMBERS[name as keyof Members];
    const known = read(value);
    if (known === undefined) throw invalidQuery(`The member \`${name}\` of the query parameter \`reading\` must be ${what}.`);
    return [name, known] as const;
  });
  const { ids, firstId, ...asked } = Object.fromEntries(members) as Partial<ReadingJson>;
  if (ids === "content" && firstId !== undefined) throw invalidQuery(TWO_SOURCES);
  const from: Ids | undefined = firstId === undefined ? ids && { kind: ids } : { kind: "from", first: firstId };
  return from ? { ...asked, ids: from } : asked;
}

export const TWO_SOURCES = "Ids either follow from the content or are numbered: send only one of `ids` and `firstId`.";

function parse(text: string): Record<string, unknown> {
  const message =
    'The query parameter `reading` is no object of JSON, with each member once: send one such as {"name":["Genus","Species"]}.';
  try {
    const json = parseJson(text);
    if (isObject(json)) return json;
  } catch {
    throw invalidQuery(message);
  }
  throw invalidQuery(message);
}

/** Exact numbers are bigints here. */
function toLine(value: unknown): number | undefined {
  const line = typeof value === "bigint" || typeof value === "number" ? Number(value) : -1;
  return Number.isSafeInteger(line) && line >= 0 ? line : undefined;
}

function toColumns(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string") ? value : undefined;
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
