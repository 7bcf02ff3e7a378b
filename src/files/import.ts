import { charactersOf, IMPORT_COMMIT, searchedOf } from "../store/commit-size.ts";
import type { ImportOptions, ImportOutcome, PlantStore } from "../store/plants.ts";
import { PlantStoreError } from "../domain/errors.ts";
import type { Pauses } from "../runtime/event-loop.ts";
import type { NewPlant } from "../domain/plant.ts";
import { FIELDS, toColumnName } from "./columns.ts";
import type { PlantField, Places } from "./columns.ts";
import { readCsv } from "./csv.ts";
import { readNdjson } from "./ndjson.ts";
import { PLAIN } from "./csv-reading.ts";
import type { CsvReading } from "./csv-reading.ts";
import type { Bytes } from "./bytes.ts";
import type { Encoding } from "./encodings.ts";
import type { ReadOptions, Row, Rows } from "./row.ts";
import { readSheet } from "./sheet.ts";
import type { SheetRows } from "./sheet.ts";

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
  /** The first UNUSED_MAX columns of CSV, or members of JSON, that were not read, or only in part. */
  unusedColumns: readonly string[];
  /** If it is not UTF-8. */
  encoding?: Encoding;
  /** What was taken for what, if the columns were guessed or chosen. */
  columns?: Readonly<Partial<Record<PlantField, string>>>;
  /** Of a dry run: what would happen to each of the first OUTCOMES_MAX lines. */
  outcomes?: readonly Outcome[];
}>;

/** What happens to a line. */
type Outcome = (typeof COUNTED)[ImportOutcome];

const PROBLEMS_MAX = 1000;
const OUTCOMES_MAX = 1000;

const COUNTED = { created: "created", same: "unchanged", replaced: "replaced", in_use: "refused" } as const satisfies Record<
  ImportOutcome,
  keyof ImportSummary
>;

export type FileFormat = "ndjson" | "csv";

/** What is imported: a file, or the sheet of a workbook. */
export type RowSource = Readonly<{ format: FileFormat; bytes: Bytes }> | Readonly<{ format: "sheet"; sheet: SheetRows }>;

type ImportFileOptions = ImportOptions &
  Pick<ReadOptions, "parsePlant" | "lineBytesMax" | "csv"> &
  Readonly<{
    pauses: Pauses;
    onProblem?: (problem: Problem) => void;
    /** Called after each commit with the counts of all lines so far. */
    onCommit?: (counts: ImportCounts) => void;
  }>;

export type ImportCounts = Pick<ImportSummary, "read" | "created" | "unchanged" | "replaced" | "refused">;

/** Imports a file as it arrives. What is committed stays if a later batch fails or the bytes break off. */
export async function importFile(
  plants: Pick<PlantStore, "import">,
  source: RowSource,
  options: ImportFileOptions,
): Promise<ImportSummary> {
  const { parsePlant, lineBytesMax, csv = PLAIN, ...how } = options;
  const unusedColumns: string[] = [];
  let encoding: Encoding | undefined;
  let columns: ImportSummary["columns"];
  const rows = readSource(source, {
    parsePlant,
    lineBytesMax,
    csv,
    onUnused: (column) => unusedColumns.push(column),
    onEncoding: (found) => (encoding = found),
    onPlaces: (places, names) => (columns = isChosen(csv) ? toTaken(places, names) : undefined),
  });
  const summary = await importRows(plants, rows, how);
  return { ...summary, unusedColumns, ...(encoding ? { encoding } : {}), ...(columns ? { columns } : {}) };
}

function readSource(source: RowSource, options: ReadOptions): Rows {
  if (source.format === "sheet") return readSheet(source.sheet, options);
  return (source.format === "csv" ? readCsv : readNdjson)(source.bytes, options);
}

function isChosen({ hasHeader, isGuessing, columns }: CsvReading): boolean {
  return !hasHeader || isGuessing || Object.keys(columns).length > 0;
}

/** The first column of each field. */
function toTaken(places: Places, names: readonly string[]): Partial<Record<PlantField, string>> {
  const taken = FIELDS.map((field) => [field, places[field][0]] as const).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(taken.map(([field, at]) => [field, toColumnName(names[at!]!, at!)]));
}

type ImportRowsOptions = ImportOptions & Pick<ImportFileOptions, "pauses" | "onProblem" | "onCommit">;

type TakenRow = Extract<Row, { plant: NewPlant }>;

/** One commit per batch, and one for the rows in it that may replace nothing. While one batch is written, the next is read. */
async function importRows(
  plants: Pick<PlantStore, "import">,
  rows: Rows,
  options: ImportRowsOptions,
): Promise<Pick<ImportSummary, "outcomes" | "problems"> & ImportCounts> {
  const { pauses, onProblem, onCommit, ...how } = options;
  const counts = { read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0 };
  const problems: Problem[] = [];
  const outcomes: Outcome[] = [];
  let writing: Promise<void> = Promise.resolve();

  function count(outcome: Outcome): void {
    counts[outcome] += 1;
    if (outcomes.length < OUTCOMES_MAX) outcomes.push(outcome);
  }

  function refuse(line: number, { number: error, message }: PlantStoreError): void {
    count("refused");
    if (problems.length < PROBLEMS_MAX) problems.push({ line, error, message });
    onProblem?.({ line, error, message });
  }

  async function store(taken: readonly TakenRow[], isReplacing: boolean): Promise<readonly ImportOutcome[]> {
    if (taken.length === 0) return [];
    return plants.import(
      taken.map(({ plant }) => plant),
      { ...how, isReplacing },
    );
  }

  async function write(batch: readonly Row[]): Promise<void> {
    const taken = batch.filter((row) => "plant" in row);
    const isKept = (row: TakenRow) => how.isReplacing && row.isIdMade === true;
    const replacing = taken.filter((row) => !isKept(row));
    const kept = taken.filter(isKept);
    const stored = (await store(replacing, how.isReplacing)).values();
    const storedKept = (await store(kept, false)).values();
    for (const row of batch) {
      counts.read += 1;
      if ("refusal" in row) refuse(row.line, row.refusal);
      else {
        const outcome = (isKept(row) ? storedKept : stored).next().value!;
        if (outcome === "in_use") refuse(row.line, new PlantStoreError("id_in_use"));
        else count(COUNTED[outcome]);
      }
    }
    onCommit?.({ ...counts });
  }

  try {
    for await (const batch of toBatches(rows, pauses)) {
      await writing;
      writing = write(batch);
      // It is awaited in the next round, and must not count as unhandled until then.
      writing.catch(() => {});
    }
  } finally {
    await writing;
  }
  return { ...counts, problems, ...(how.isDryRun ? { outcomes } : {}) };
}

async function* toBatches(rows: Rows, pauses: Pauses): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  let length = 0;
  let searched = 0;
  for await (const some of rows) {
    // Lines that have arrived already wait for nothing: other requests must still get their turn. Refused ones do not
    // even wait for a commit, so each few of them end a turn: a create waits for several.
    await pauses(some.some((row) => "refusal" in row));
    for (const row of some) {
      batch.push(row);
      if ("plant" in row) {
        length += charactersOf(row.plant);
        searched += searchedOf(row.plant);
      }
      if (batch.length < IMPORT_COMMIT.plants && length < IMPORT_COMMIT.characters && searched < IMPORT_COMMIT.searched) continue;
      yield batch;
      batch = [];
      length = 0;
      searched = 0;
    }
  }
  yield batch;
}
