import { parseFields, parseList } from "./plant.ts";
import type { Plant } from "./plant.ts";

/** A piece of a file, bytes or text, cut anywhere; or a plant, which becomes a line of NDJSON. */
export type ImportChunk = Plant | Uint8Array | string;

/** Where an import comes from: a whole file, as a Blob, File, text or bytes; or a stream or any other iterable of its pieces, or of plants. */
export type ImportSource =
  | AsyncIterable<ImportChunk>
  | Blob
  | Iterable<ImportChunk>
  | ReadableStream<Uint8Array>
  | ReadableStream<string>
  | Uint8Array
  | string;

/**
 * How to import. `onConflict`: what to do when an id names another plant already, `refuse` the line, the default, or `replace` that plant;
 * `dryRun`: store nothing, only tell what would become of each line.
 */
export type ImportQuery = Readonly<{ onConflict?: "refuse" | "replace"; dryRun?: boolean }>;

/** How far an import is: bytes on their way, and how many there are when that is known. */
export type ImportProgress = Readonly<{ bytes: number; bytesTotal?: number }>;

/** What became of the lines of an import. */
export type ImportSummary = Readonly<{
  /** Lines, or rows of CSV, without the empty ones: the sum of the next four. */
  read: number;
  created: number;
  /** Plants that were stored already, exactly so. */
  unchanged: number;
  /** Plants that took the place of another one with the same id. */
  replaced: number;
  refused: number;
  /** The first 1,000 refused lines. */
  problems: readonly ImportProblem[];
  /** Columns of CSV, the first 100, that nothing was read from, or not everything; each named by its first 100 characters. */
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
    // A service older than this client does not tell.
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
