import { oneOf, optional, parseBigInt, parseBoolean, parseList, parseNumber, parseObject, parseText } from "./json.ts";
import type { Plant } from "./plant.ts";

/** A piece of a file (bytes or text, cut anywhere), or a plant, which becomes a line of NDJSON. */
export type ImportChunk = Plant | Uint8Array | string;

/**
 * A whole file as a Blob, File, text or bytes; or a stream or other iterable of its pieces, or of plants. A File, Blob or
 * bytes may be gzip: say the `format` if no name such as `plants.csv.gz` does.
 */
export type ImportSource =
  | AsyncIterable<ImportChunk>
  | Blob
  | Iterable<ImportChunk>
  | ReadableStream<Uint8Array>
  | ReadableStream<string>
  | Uint8Array
  | string;

/**
 * `onConflict`: what to do if a different plant already has the id: `refuse` the line (default) or `replace` that
 * plant. `dryRun`: store nothing, only report what would happen to each line. `import`: your name for it, 1 to 64 letters,
 * digits, `_` and `-`; what you send under the same name is one import. `reading`: how a table is read.
 */
export type ImportQuery = Readonly<{ onConflict?: "refuse" | "replace"; dryRun?: boolean; import?: string; reading?: AskedReading }> &
  CsvQuery;

/** How a table is read; what is missing is guessed from its first rows. */
export type AskedReading = Partial<Reading>;

/** How a table was read: sent again, it gives the same plants. */
export type Reading = Readonly<{
  /** The encoding of a text, by its name in the Encoding Standard, such as `windows-1250`. */
  encoding?: string;
  /** What stands between its cells; empty if each line is one. */
  separator?: "," | ";" | "\t" | "|" | "";
  /** `none`: quotes belong to the text. */
  quotes?: "double" | "none";
  /** The line on which the row begins that names the columns; 0 if none does. */
  heading: number;
  /** The sheet of a workbook. */
  sheet?: string;
  /** A column, by its name, or position as in `column 4`. Empty for none. */
  id: string;
  /** The columns that make the name, joined by the rules of nomenclature. */
  name: readonly string[];
  tag: string;
  /** `file`: a row without an id is refused. `content`: it gets one that follows from its cells: the same again for the same row. */
  ids?: "file" | "content";
  /** Number the rows without an id from here on. Not together with `ids`. */
  firstId?: bigint;
  /** Whether a row without a name is a plant. */
  emptyNames: boolean;
}>;

/**
 * What older programs say of CSV. Use `reading`.
 *
 * @deprecated
 */
export type CsvQuery = Readonly<{
  header?: "present" | "absent";
  guess?: boolean;
  encoding?: "utf-8" | "windows-1252";
  idColumn?: string;
  nameColumn?: string;
  tagColumn?: string;
  ids?: "file" | "content";
  firstId?: bigint;
  dropEmptyTags?: boolean;
}>;

/** The number of bytes sent so far, and of all bytes if that is known. */
export type ImportProgress = Readonly<{ bytes: number; bytesTotal?: number }>;

/** What happened to the lines of an import. */
export type ImportSummary = Readonly<{
  /** Lines, or rows of CSV, that are not empty: the sum of the next four. */
  read: number;
  created: number;
  /** Plants that were already stored, exactly like this. */
  unchanged: number;
  /** Plants that replaced a different one with the same id. */
  replaced: number;
  refused: number;
  /** The first 1,000 refused lines. */
  problems: readonly ImportProblem[];
  /** The first 100 columns of CSV, or members of NDJSON, that were not read, or only in part. Each name is cut to 100 characters. */
  unusedColumns: readonly string[];
  /** If the file is not UTF-8. */
  encoding?: string;
  /** What the columns of CSV were taken for, if they were guessed or chosen. */
  columns?: Readonly<{ id?: string; name?: string; tag?: string }>;
  /** How a table was read, if not everything was said of it, and how many rows were no plants: blank ones, and those above the heading. */
  reading?: Reading;
  skipped?: number;
  /** The first 100 guesses that are not certain, and texts that are probably not meant. `line`: missing if it is about the whole file. */
  doubts?: readonly ImportDoubt[];
  /** The id of the import in `imports`. Missing of a dry run, and from an older service. */
  import?: string;
  /** Of a dry run, what would happen to each of the first 1,000 lines. */
  outcomes?: ReadonlyArray<"created" | "unchanged" | "replaced" | "refused">;
}>;

/** A refused line. `error` and `message` are as in a ServiceError. */
export type ImportProblem = Readonly<{ line: number; error: number; message: string }>;

export type ImportDoubt = Readonly<{ line?: number; message: string }>;

/** JSON with the digits of `firstId`, which JSON.stringify refuses. */
export function readingText({ firstId, ...reading }: AskedReading): string {
  const text = JSON.stringify(reading);
  return firstId === undefined ? text : `${text.slice(0, -1)}${text === "{}" ? "" : ","}"firstId":${firstId}}`;
}

/** Throws a TypeError. */
export function parseImportSummary(body: unknown): ImportSummary {
  return parseObject<ImportSummary>(body, {
    read: parseNumber,
    created: parseNumber,
    unchanged: parseNumber,
    replaced: parseNumber,
    refused: parseNumber,
    problems: (value) => parseList(value, parseProblem),
    // A service older than this client does not send it.
    unusedColumns: (value = []) => parseList(value, parseText),
    encoding: optional(parseText),
    columns: optional(parseColumns),
    reading: optional(parseReading),
    skipped: optional(parseNumber),
    doubts: optional((value) => parseList(value, parseDoubt)),
    import: optional(parseText),
    outcomes: optional((value) => parseList(value, oneOf("created", "unchanged", "replaced", "refused"))),
  });
}

function parseColumns(value: unknown): NonNullable<ImportSummary["columns"]> {
  const text = optional(parseText);
  return parseObject(value, { id: text, name: text, tag: text });
}

function parseReading(value: unknown): Reading {
  const text = optional(parseText);
  return parseObject<Reading>(value, {
    encoding: text,
    separator: optional(oneOf(",", ";", "\t", "|", "")),
    quotes: optional(oneOf("double", "none")),
    heading: parseNumber,
    sheet: text,
    id: parseText,
    name: (names) => parseList(names, parseText),
    tag: parseText,
    ids: optional(oneOf("file", "content")),
    firstId: optional(parseBigInt),
    emptyNames: parseBoolean,
  });
}

function parseDoubt(value: unknown): ImportDoubt {
  return parseObject(value, { line: optional(parseNumber), message: parseText });
}

function parseProblem(value: unknown): ImportProblem {
  return parseObject(value, { line: parseNumber, error: parseNumber, message: parseText });
}
