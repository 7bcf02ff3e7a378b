import type { ImportOptions, ImportOutcome, PlantStore } from "../store/plants.ts";
import { PlantStoreError } from "../errors.ts";
import { openPauses } from "../event-loop.ts";
import type { NewPlant } from "../plant.ts";
import { readCsv } from "./csv.ts";
import { readNdjson } from "./ndjson.ts";
import type { Bytes, ReadOptions, Row, Rows } from "./row.ts";

/** Why a line was refused. */
export type Problem = Readonly<{ line: number; error: number; message: string }>;

/** What happened to the lines of a file. `read` is the sum of the next four. */
export type ImportSummary = Readonly<{
  read: number;
  created: number;
  unchanged: number;
  replaced: number;
  refused: number;
  /** The first PROBLEMS_MAX refused lines. */
  problems: readonly Problem[];
  /** The first hundred CSV columns that were not read, or only in part. */
  unusedColumns: readonly string[];
}>;

const PROBLEMS_MAX = 1000;

/** How many plants, and how many characters of them, go into one commit. */
const BATCH_PLANTS = 2000;
const BATCH_LENGTH = 1_000_000;

const COUNTED = { created: "created", same: "unchanged", replaced: "replaced", in_use: "refused" } as const satisfies Record<
  ImportOutcome,
  keyof ImportSummary
>;

export type FileFormat = "ndjson" | "csv";

type ImportFileOptions = ImportOptions &
  Omit<ReadOptions, "onUnused"> &
  Readonly<{
    format: FileFormat;
    onProblem?: (problem: Problem) => void;
    /** Called after each commit with the counts of all lines so far. */
    onCommit?: (counts: ImportCounts) => void;
  }>;

export type ImportCounts = Omit<ImportSummary, "problems" | "unusedColumns">;

/** Imports a file as it arrives. What is committed stays if a later batch fails or the bytes break off. */
export async function importFile(plants: Pick<PlantStore, "import">, bytes: Bytes, options: ImportFileOptions): Promise<ImportSummary> {
  const { format, parsePlant, lineBytesMax, ...how } = options;
  const unusedColumns: string[] = [];
  const read = format === "csv" ? readCsv : readNdjson;
  const rows = read(bytes, { parsePlant, lineBytesMax, onUnused: (column) => unusedColumns.push(column) });
  return { ...(await importRows(plants, rows, how)), unusedColumns };
}

type ImportRowsOptions = ImportOptions & Pick<ImportFileOptions, "onProblem" | "onCommit">;

/** One commit per batch. While one batch is written, the next is read. */
async function importRows(
  plants: Pick<PlantStore, "import">,
  rows: Rows,
  options: ImportRowsOptions,
): Promise<Omit<ImportSummary, "unusedColumns">> {
  const { onProblem, onCommit, ...how } = options;
  const counts = { read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0 };
  const problems: Problem[] = [];
  let writing: Promise<void> = Promise.resolve();

  function refuse(line: number, { number: error, message }: PlantStoreError): void {
    counts.refused += 1;
    if (problems.length < PROBLEMS_MAX) problems.push({ line, error, message });
    onProblem?.({ line, error, message });
  }

  async function write(batch: readonly Row[]): Promise<void> {
    const taken = batch.filter((row) => "plant" in row);
    const outcomes =
      taken.length > 0
        ? await plants.import(
            taken.map(({ plant }) => plant),
            how,
          )
        : [];
    let at = 0;
    for (const row of batch) {
      counts.read += 1;
      if ("refusal" in row) refuse(row.line, row.refusal);
      else {
        const outcome = outcomes[at++]!;
        if (outcome === "in_use") refuse(row.line, new PlantStoreError("id_in_use"));
        else counts[COUNTED[outcome]] += 1;
      }
    }
    onCommit?.({ ...counts });
  }

  try {
    for await (const batch of toBatches(rows)) {
      await writing;
      writing = write(batch);
      // It is awaited in the next round, and must not count as unhandled until then.
      writing.catch(() => {});
    }
  } finally {
    await writing;
  }
  return { ...counts, problems };
}

async function* toBatches(rows: Rows): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  let length = 0;
  const pauses = openPauses();
  for await (const some of rows) {
    // Lines that have arrived already, or are all refused, wait for nothing: other requests must still get their turn.
    await pauses();
    for (const row of some) {
      batch.push(row);
      if ("plant" in row) length += lengthOf(row.plant);
      if (batch.length < BATCH_PLANTS && length < BATCH_LENGTH) continue;
      yield batch;
      batch = [];
      length = 0;
    }
  }
  yield batch;
}

function lengthOf({ name, tag }: NewPlant): number {
  return name.length + (tag?.length ?? 0);
}
