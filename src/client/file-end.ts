import type { FileFormat } from "./file-format.ts";

/** Each byte is one character, so a piece may end within a letter. */
const BYTES = new TextDecoder("latin1");

export type FileEnd = ReturnType<typeof createFileEnd>;

/**
 * Recognises the end of a file by its last plant, which the service names before it sends the first. Proxies such as
 * Caddy 2.6 and h2o end a file that broke off as if it were whole.
 */
export function createFileEnd(format: FileFormat, lastId: string) {
  const begin = format === "csv" ? `\n${lastId},` : `\n{"id":${lastId},`;
  // The first row of NDJSON has no line before it.
  let seen = "\n";
  let isInLast = false;
  return {
    /** The next bytes of the file. */
    look(bytes: Uint8Array): void {
      seen += BYTES.decode(bytes);
      isInLast ||= seen.includes(begin);
      seen = seen.slice(-begin.length);
    },
    /** Whether the row of the last plant was there, and all of it. */
    isReached: () => isInLast && seen.endsWith("\n"),
  };
}
