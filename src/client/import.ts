import { oneOf, optional, parseList, parseNumber, parseObject, parseText } from "./json.ts";
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
 * plant. `dryRun`: store nothing, only report what would happen to each line.
 */
export type ImportQuery = Readonly<{ onConflict?: "refuse" | "replace"; dryRun?: boolean }> & CsvQuery;

/** How to read CSV that has no columns `id`, `name` and `tag`. */
export type CsvQuery = Readonly<{
  /** `absent`: the first line is a plant. The columns that you do not choose are the id, the name and the tag, in this order. */
  header?: "present" | "absent";
  /** Take the likeliest columns by their names, and Windows-1252 if it is not UTF-8. The summary says which. */
  guess?: boolean;
  encoding?: "utf-8" | "windows-1252";
  /** Columns by name, or position as in `column 4`. Empty for none. */
  idColumn?: string;
  nameColumn?: string;
  tagColumn?: string;
  /** `content`: a row without an id gets one that follows from its cells: the same again for the same row. */
  ids?: "file" | "content";
  /** Number the rows without an id from here on. Not together with `ids: "content"`. */
  firstId?: bigint;
  /** Take a quoted empty tag for none. */
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
  encoding?: "utf-16le" | "utf-16be" | "windows-1252";
  /** What the columns of CSV were taken for, if they were guessed or chosen. */
  columns?: Readonly<{ id?: string; name?: string; tag?: string }>;
  /** Of a dry run, what would happen to each of the first 1,000 lines. */
  outcomes?: ReadonlyArray<"created" | "unchanged" | "replaced" | "refused">;
}>;

/** A refused line. `error` and `message` are as in a ServiceError. */
export type ImportProblem = Readonly<{ line: number; error: number; message: string }>;

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
    encoding: optional(oneOf("utf-16le", "utf-16be", "windows-1252")),
    columns: optional(parseColumns),
    outcomes: optional((value) => parseList(value, oneOf("created", "unchanged", "replaced", "refused"))),
  });
}

function parseColumns(value: unknown): NonNullable<ImportSummary["columns"]> {
  const text = optional(parseText);
  return parseObject(value, { id: text, name: text, tag: text });
}

function parseProblem(value: unknown): ImportProblem {
  return parseObject(value, { line: parseNumber, error: parseNumber, message: parseText });
}
