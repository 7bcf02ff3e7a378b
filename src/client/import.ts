import { parseFields, parseList } from "./plant.ts";
import type { Plant } from "./plant.ts";

/** A piece of a file (bytes or text, cut anywhere), or a plant, which becomes a line of NDJSON. */
export type ImportChunk = Plant | Uint8Array | string;

/** A whole file as a Blob, File, text or bytes; or a stream or other iterable of its pieces, or of plants. */
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
export type ImportQuery = Readonly<{ onConflict?: "refuse" | "replace"; dryRun?: boolean }>;

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
  /** The first 100 CSV columns that were not read, or only in part. Each name is cut to 100 characters. */
  unusedColumns: readonly string[];
}>;

/** A refused line. `error` and `message` are as in a ServiceError. */
export type ImportProblem = Readonly<{ line: number; error: number; message: string }>;

/** Throws a TypeError. */
export function parseImportSummary(body: unknown): ImportSummary {
  const { read, created, unchanged, replaced, refused, problems, unusedColumns } = parseFields(body);
  return {
    read: parseCount(read),
    created: parseCount(created),
    unchanged: parseCount(unchanged),
    replaced: parseCount(replaced),
    refused: parseCount(refused),
    problems: parseList(problems, parseProblem),
    // A service older than this client does not send it.
    unusedColumns: unusedColumns === undefined ? [] : parseList(unusedColumns, parseColumn),
  };
}

function parseProblem(value: unknown): ImportProblem {
  const { line, error, message } = parseFields(value);
  if (typeof message !== "string") throw new TypeError("no message");
  return { line: parseCount(line), error: parseCount(error), message };
}

function parseColumn(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("no name of a column");
  return value;
}

function parseCount(value: unknown): number {
  if (typeof value !== "number") throw new TypeError("not a count");
  return value;
}
