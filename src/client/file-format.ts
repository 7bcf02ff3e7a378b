/** The forms of a file of plants: CSV, whose first line names the columns, or NDJSON, one plant a line. */
export type FileFormat = "csv" | "ndjson";

/** As much of the beginning of a file as tells its form. */
export const HEAD_BYTES = 1_000;

/** The file is neither. `message` says what to do. */
export class FileFormatError extends TypeError {
  constructor() {
    super("The file is one JSON list: write each plant on a line of its own instead (NDJSON), as jq -c '.[]' does.");
    this.name = "FileFormatError";
  }
}

/**
 * The form of a file: by the end of its name where that tells, else by its first HEAD_BYTES. What holds nothing is NDJSON without a plant, as
 * an export of no plants is. Throws a FileFormatError.
 */
export function detectFormat(name: string | undefined, head: Uint8Array): FileFormat {
  if (name !== undefined && /\.(csv|tsv)$/i.test(name)) return "csv";
  if (name !== undefined && /\.(ndjson|jsonl)$/i.test(name)) return "ndjson";
  // The decoder leaves out a byte order mark.
  const [first = "{"] = new TextDecoder().decode(head.subarray(0, HEAD_BYTES)).trimStart();
  if (first === "[") throw new FileFormatError();
  return first === "{" ? "ndjson" : "csv";
}
