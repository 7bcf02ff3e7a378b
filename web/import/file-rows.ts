import type { FileFormat } from "../../src/client/client.ts";
import { bytesOf } from "../../src/files/bytes.ts";
import { readCsv } from "../../src/files/csv.ts";
import { readNdjson } from "../../src/files/ndjson.ts";
import { fileLimits } from "../../src/files/row.ts";
import type { Findings, ReadOptions, Row } from "../../src/files/row.ts";

/** A row of a file, and where it begins in it, in bytes. */
export type PlacedRow = Readonly<{ row: Row; start: number }>;

/** The service's own limit, when it is not configured otherwise. */
const PLANT_BYTES_MAX = 65_536;

type FileOptions = Readonly<{ format: FileFormat }> & Pick<ReadOptions, "csv" | "faults">;

/** Reads a file with the service's own readers, some rows at a time. Throws a PlantStoreError when its first line names no columns. */
export async function* readRows(
  file: Blob,
  { format, ...options }: FileOptions,
  findings: Findings,
): AsyncGenerator<readonly PlacedRow[], void, void> {
  const lines = createLineStarts(format);
  async function* watched(): AsyncGenerator<Uint8Array, void, void> {
    for await (const piece of bytesOf(file.stream())) {
      lines.see(piece);
      yield piece;
    }
  }
  const read = format === "csv" ? readCsv : readNdjson;
  for await (const rows of read(watched(), { ...fileLimits(PLANT_BYTES_MAX), ...options }, findings)) {
    yield rows.map((row) => ({ row, start: lines.at(row.line) }));
    const last = rows.at(-1);
    if (last) lines.forget(last.line);
  }
}

const LF = 0x0a;
const CR = 0x0d;

/** Forgotten lines are let go of in as large lots. */
const LOT = 4_096;

/**
 * Where the lines of a file begin, in bytes. They are counted from 1, as the service's readers count them: NDJSON ends a
 * line with LF, CSV also with CRLF or CR.
 */
function createLineStarts(format: FileFormat) {
  let starts = [0];
  let first = 1;
  let offset = 0;
  let isAfterCr = false;
  return {
    see(bytes: Uint8Array): void {
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at];
        const isCr = byte === CR && format === "csv";
        if (byte === LF && isAfterCr) starts.pop();
        if (byte === LF || isCr) starts.push(offset + at + 1);
        isAfterCr = isCr;
      }
      offset += bytes.length;
    },
    /** Where a line begins that was seen and not forgotten. */
    at(line: number): number {
      return starts[line - first]!;
    },
    /** Lines before this one are not asked for any more. */
    forget(line: number): void {
      const over = line - first;
      if (over < LOT) return;
      starts = starts.slice(over);
      first = line;
    },
  };
}
