/** The formats of a file of plants: CSV, whose first line names the columns, or NDJSON, one plant a line. */
export type FileFormat = "csv" | "ndjson";

/** How many bytes at the start of a file are enough to detect its format. */
export const HEAD_BYTES = 1_000;

/**
 * Detects the format of a file by its extension (before `.gz`) if known, otherwise by its first HEAD_BYTES. An empty file is NDJSON
 * without plants, as an export of no plants is. `list`: one JSON list, which `splitList` makes NDJSON of.
 */
export function detectFormat(name: string | undefined, head: Uint8Array): FileFormat | "list" {
  const named = formatOfName(name);
  if (named) return named;
  // The decoder drops a byte order mark.
  const [first = "{"] = new TextDecoder().decode(head.subarray(0, HEAD_BYTES)).trimStart();
  if (first === "[") return "list";
  return first === "{" ? "ndjson" : "csv";
}

/** The format that the extension of a file names, if it is known. */
export function formatOfName(name = ""): FileFormat | undefined {
  if (/\.(csv|tsv)(\.gz)?$/i.test(name)) return "csv";
  return /\.(ndjson|jsonl)(\.gz)?$/i.test(name) ? "ndjson" : undefined;
}
