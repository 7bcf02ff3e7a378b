import type { Schemas } from "../../contract/generated/schemas.ts";
import { charactersOf, IMPORT_COMMIT, searchedOf } from "../store/commit-size.ts";
import type { ImportOptions, ImportOutcome, PlantStore } from "../store/plants.ts";
import { PlantStoreError } from "../domain/errors.ts";
import type { Pauses } from "../runtime/event-loop.ts";
import type { NewPlant } from "../domain/plant.ts";
import { FIELDS, toColumnName } from "./reading/columns.ts";
import type { Layout, PlantField } from "./reading/columns.ts";
import { readFile } from "./read-file.ts";
import type { FileSource } from "./read-file.ts";
import { toReadingJson } from "./reading/reading-json.ts";
import { createFindings, PLAIN, ROW_DOUBTS_MAX } from "./row.ts";
import type { Findings, ReadOptions, Row, Rows } from "./row.ts";

export type Problem = Schemas["ImportProblem"];
export type ImportSummary = Schemas["ImportSummary"];
type Outcome = NonNullable<ImportSummary["outcomes"]>[number];

const PROBLEMS_MAX = 1000;
const OUTCOMES_MAX = 1000;

const COUNTED = { created: "created", same: "unchanged", replaced: "replaced", in_use: "refused" } as const satisfies Record<
  ImportOutcome,
  Outcome
>;

type ImportFileOptions = ImportOptions &
  ReadOptions &
  Readonly<{
    pauses: Pauses;
    onProblem?: (problem: Problem) => void;
    /** Called after each commit with the counts of all lines so far. */
    onCommit?: (counts: ImportCounts) => void;
  }>;

export type ImportCounts = Pick<ImportSummary, "read" | "created" | "unchanged" | "replaced" | "refused">;

/**
 * Imports a file as it arrives: one commit per batch, and one for the rows in it that may replace nothing. While one batch
 * is written, the next is read. What is committed stays if a later batch fails or the bytes break off.
 */
export async function importFile(
  plants: Pick<PlantStore, "import">,
  source: FileSource,
  options: ImportFileOptions,
): Promise<ImportSummary> {
  const { pauses, onProblem, onCommit, isDryRun } = options;
  const findings = createFindings();
  const tally = createTally(onProblem);
  let writing: Promise<void> = Promise.resolve();

  async function write(batch: readonly Row[]): Promise<void> {
    const outcomes = (await commit(plants, batch, options)).values();
    for (const row of batch) tally.add(row.line, "refusal" in row ? row.refusal : outcomes.next().value!);
    onCommit?.({ ...tally.counts });
  }

  try {
    for await (const batch of toBatches(readFile(source, options, findings), pauses)) {
      await writing;
      writing = write(batch);
      // It is awaited in the next round, and must not count as unhandled until then.
      writing.catch(() => {});
    }
  } finally {
    await writing;
  }
  const { counts, problems, outcomes } = tally;
  return { ...counts, problems, ...(isDryRun ? { outcomes } : {}), ...toFound(findings, options) };
}

/** What is said of how a file was read. */
export function toFound(
  { encoding, unusedColumns, layout, reading, skipped, doubts, rowDoubts }: Findings,
  { table = { plain: PLAIN } }: Pick<ReadOptions, "table">,
) {
  const isChosen = "asked" in table || !table.plain.hasHeader || Object.keys(table.plain.columns).length > 0;
  return {
    unusedColumns,
    ...(encoding === undefined ? {} : { encoding }),
    ...(layout && isChosen ? { columns: toTaken(layout) } : {}),
    ...(reading ? { reading: toReadingJson(reading), skipped } : {}),
    ...(reading || doubts.length > 0
      ? { doubts: [...doubts, ...(rowDoubts > ROW_DOUBTS_MAX ? [{ message: moreDoubts(rowDoubts) }] : [])] }
      : {}),
  };
}

function moreDoubts(count: number): string {
  return `The first ${ROW_DOUBTS_MAX} of ${count} doubts about rows are named.`;
}

/** The first column of each field. */
function toTaken(layout: Layout): Partial<Record<PlantField, string>> {
  const taken = FIELDS.map((field) => [field, layout[field][0]] as const).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(taken.map(([field, at]) => [field, toColumnName(layout.names[at!]!, at!)]));
}

type PlantRow = Extract<Row, { plant: NewPlant }>;

/** What becomes of the plants of a batch, in their order. One whose id was made replaces none. */
async function commit(
  plants: Pick<PlantStore, "import">,
  batch: readonly Row[],
  { isReplacing, isDryRun, by, import: id }: ImportOptions,
): Promise<readonly ImportOutcome[]> {
  const rows = batch.filter((row) => "plant" in row);
  const isKeeping = (row: PlantRow) => isReplacing && row.isIdMade === true;
  const store = async (some: readonly PlantRow[], replaces: boolean) =>
    some.length === 0
      ? []
      : plants.import(
          some.map(({ plant }) => plant),
          { isReplacing: replaces, isDryRun, by, import: id },
        );
  const replacing = (
    await store(
      rows.filter((row) => !isKeeping(row)),
      isReplacing,
    )
  ).values();
  const keeping = (await store(rows.filter(isKeeping), false)).values();
  return rows.map((row) => (isKeeping(row) ? keeping : replacing).next().value!);
}

function createTally(onProblem: (problem: Problem) => void = () => {}) {
  const counts = { read: 0, created: 0, unchanged: 0, replaced: 0, refused: 0 };
  const problems: Problem[] = [];
  const outcomes: Outcome[] = [];

  function refuse(line: number, { number: error, message }: PlantStoreError): void {
    if (problems.length < PROBLEMS_MAX) problems.push({ line, error, message });
    onProblem({ line, error, message });
  }

  return {
    counts,
    problems,
    outcomes,
    add(line: number, result: ImportOutcome | PlantStoreError): void {
      const outcome = typeof result === "string" ? COUNTED[result] : "refused";
      counts.read += 1;
      counts[outcome] += 1;
      if (outcomes.length < OUTCOMES_MAX) outcomes.push(outcome);
      if (outcome === "refused") refuse(line, typeof result === "string" ? new PlantStoreError("id_in_use") : result);
    },
  };
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
