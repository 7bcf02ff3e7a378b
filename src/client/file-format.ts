/** The formats of a file of plants: CSV, whose first line names the columns, or NDJSON, one plant a line. */
export type FileFormat = "csv" | "ndjson";

/** How many bytes at the start of a file are enough to detect its format. */
export const HEAD_BYTES = 1_000;

/** The file has neither format. `message` says what to do. */
export class FileFormatError extends TypeError {
  constructor() {
    super("The file is one JSON list: write each plant on a line of its own instead (NDJSON), as jq -c '.[]' does.");
    this.name = "FileFormatError";
  }
}

/**
 * Detects the format of a file by its extension (before `.gz`) if known, otherwise by its first HEAD_BYTES. An empty file is NDJSON
 * without plants, as an export of no plants is. Throws a FileFormatError.
 */
export function detectFormat(name: string | undefined, head: Uint8Array): FileFormat {
  const named = formatOfName(name);
  if (named) return named;
  // The decoder drops a byte order mark.
  const [first = "{"] = new TextDecoder().decode(head.subarray(0, HEAD_BYTES)).trimStart();
  if (first === "[") throw new FileFormatError();
  return first === "{" ? "ndjson" : "csv";
}

/** The format that the extension of a file names, if it is known. */
export function formatOfName(name = ""): FileFormat | undefined {
  if (/\.(csv|tsv)(\.gz)?$/i.test(name)) return "csv";
  return /\.(ndjson|jsonl)(\.gz)?$/i.test(name) ? "ndjson" : undefined;
}
