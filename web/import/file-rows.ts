import type { FileFormat } from "../../src/client/client.ts";
import { readCsv } from "../../src/files/csv.ts";
import { readNdjson } from "../../src/files/ndjson.ts";
import { createFindings, fileLimits } from "../../src/files/row.ts";
import type { ReadOptions, Row } from "../../src/files/row.ts";
import { countLines } from "./line-starts.ts";

/** A row of a file, and where it begins in it, in bytes. */
export type PlacedRow = Readonly<{ row: Row; start: number }>;

/** The service's own limit, when it is not configured otherwise. */
const PLANT_BYTES_MAX = 65_536;

type ReadingOptions = Readonly<{ format: FileFormat }> & Pick<ReadOptions, "csv" | "faults">;

/** Reads a file with the service's own readers, some rows at a time. Throws a PlantStoreError when its first line names no columns. */
export async function* readRows(
  file: Blob,
  { format, ...options }: ReadingOptions,
  findings = createFindings(),
): AsyncGenerator<readonly PlacedRow[], void, void> {
  const lines = countLines(format);
  const read = format === "csv" ? readCsv : readNdjson;
  for await (const rows of read(watched(file, lines.see), { ...fileLimits(PLANT_BYTES_MAX), ...options }, findings)) {
    yield rows.map((row) => ({ row, start: lines.at(row.line) }));
    const last = rows.at(-1);
    if (last) lines.forget(last.line);
  }
}

async function* watched(file: Blob, see: (bytes: Uint8Array) => void): AsyncGenerator<Uint8Array, void, void> {
  const reader = file.stream().getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      see(next.value);
      yield next.value;
    }
  } finally {
    await reader.cancel();
  }
}
