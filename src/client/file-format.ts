/** The formats of a file of plants: CSV, whose first line names the columns, or NDJSON, one plant a line. */
export type FileFormat = "csv" | "ndjson";

/** How many bytes at the start of a file are enough to detect its format. */
export const HEAD_BYTES = 1_000;

/**
 * Detects the format of a file by its first HEAD_BYTES, and by its extension (before `.gz`) where these are no JSON. An empty file is
 * NDJSON without plants, as an export of no plants is. `list`: one JSON list, also in an object, which `splitList` makes NDJSON of.
 */
export function detectFormat(name: string | undefined, head: Uint8Array): FileFormat | "list" {
  // The decoder drops a byte order mark.
  const text = new TextDecoder().decode(head.subarray(0, HEAD_BYTES)).trimStart();
  const named = formatOfName(name);
  if (text === "") return named ?? "ndjson";
  // A table may begin with `[My garden]`.
  if (/^\[\s*(?:[[{\]"\d-]|$)/.test(text)) return named ?? "list";
  if (!/^\{\s*(?:["}]|$)/.test(text)) return named ?? "csv";
  if (named === "ndjson") return named;
  return hasList(text) ? "list" : "ndjson";
}

const TOKEN = /"(?:[^"\\]|\\.)*(?:"|$)|[[\]{},:]|[^\s"[\]{},:]+/gs;

/**
 * Whether the object at the start of a text is around a list of objects, and is no line of NDJSON: such a line is a plant, or
 * another object is on the next one.
 */
function hasList(text: string): boolean {
  let depth = 0;
  const fields = new Set<string>();
  let [beforeLast, last] = ["", ""];
  let isFound = false;
  for (const [token] of text.matchAll(TOKEN)) {
    if (depth === 0 && last !== "") return isFound && fields.size < 2 && token !== "{";
    const isFirstItem = last === "[" && beforeLast === ":" && depth === 2;
    isFound ||= isFirstItem && token === "{";
    if (last === ":" && depth === 1 && FIELD.test(beforeLast + token)) fields.add(beforeLast);
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    [beforeLast, last] = [last, token];
  }
  return isFound && fields.size < 2 && !(depth > 0 && fields.has('"id"'));
}

/** The name of a field of a plant, and its value: an id that is no number may be one of the list. */
const FIELD = /^(?:"id"-?\d|"(?:name|tag)"")/;

/** The format that the extension of a file names, if it is known. */
export function formatOfName(name = ""): FileFormat | undefined {
  if (/\.(csv|tsv)(\.gz)?$/i.test(name)) return "csv";
  return /\.(ndjson|jsonl)(\.gz)?$/i.test(name) ? "ndjson" : undefined;
}
