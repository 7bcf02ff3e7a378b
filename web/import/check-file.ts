import type { ImportProblem } from "../../src/client/client.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import { readFile } from "../../src/files/read-file.ts";
import type { FileSource } from "../../src/files/read-file.ts";
import type { Asked } from "../../src/files/reading/reading.ts";
import { createFindings, SENDER_LIMITS } from "../../src/files/row.ts";
import type { Findings, Row } from "../../src/files/row.ts";
import { UnclearEncoding } from "../../src/files/table-error.ts";
import type { Likely } from "../../src/files/table-error.ts";
import { openSource } from "./open-source.ts";
import { findRepeats } from "./repeats.ts";
import type { Repeat } from "./repeats.ts";

/** An id that was made replaces no plant. */
export type RepeatedRow = Repeat & Readonly<{ isIdMade: boolean }>;

/** A file that was read to its end, here, before anything is sent. Read again as it was asked for, it has the same rows. */
export type CheckedFile = Readonly<{
  file: File;
  asked: Asked;
  kind: FileSource["format"];
  /** The names of the sheets of a workbook. */
  sheets: readonly string[];
  /** Whether another file of its archive describes the columns. */
  isDescribed: boolean;
  findings: Findings;
  /** What people should know of it, besides doubts. */
  notes: readonly string[];
  /** The lines on which rows begin, by their position. */
  lines: readonly number[];
  refused: number;
  plants: readonly Readonly<{ plant: NewPlant; row: number }>[];
  problems: readonly ImportProblem[];
  /** Rows that have the id of an earlier one, by their position. */
  repeats: ReadonlyMap<number, RepeatedRow>;
  /** Why it cannot be read like this. */
  failure: string | undefined;
  /** The encodings to choose from, if none is certain. */
  likely: readonly Likely[];
}>;

export type CheckOptions = Readonly<{
  signal: AbortSignal;
  /** `share`: how much of the file is read, if that is known. */
  onRows?: (rows: number, share: number | undefined) => void;
}>;

const PLANTS_SHOWN = 5;
const PROBLEMS_SHOWN = 100;

/** How long to work before the page gets its turn. */
const TURN_MS = 12;

/** Reads the whole file without holding up the page. Throws what no other choice can mend. */
export async function checkFile(file: File, asked: Asked, { signal, onRows }: CheckOptions): Promise<CheckedFile> {
  const findings = createFindings();
  let share: number | undefined;
  const source = await openSource(file, (bytes) => (share = bytes / file.size));
  const { found, add } = createGathering();
  let turnAt = performance.now();
  let problem: PlantStoreError | undefined;
  try {
    for await (const rows of readFile(source, { ...SENDER_LIMITS, table: { asked } }, findings)) {
      rows.forEach(add);
      if (performance.now() - turnAt > TURN_MS) {
        onRows?.(found.lines.length, share);
        await new Promise((resolve) => setTimeout(resolve));
        turnAt = performance.now();
      }
      signal.throwIfAborted();
    }
  } catch (thrown) {
    if (!(thrown instanceof PlantStoreError) || !MENDED.includes(thrown.code)) throw thrown;
    problem = thrown;
  }
  signal.throwIfAborted();
  return {
    file,
    asked,
    findings,
    ...found,
    kind: source.format,
    notes: source.notes ?? [],
    sheets: source.format === "workbook" ? source.sheets.map(({ name }) => name) : [],
    isDescribed: source.format === "csv" && source.archive !== undefined,
    failure: problem?.message,
    likely: problem instanceof UnclearEncoding ? problem.likely : [],
  };
}

/** What reading it in another way may mend. */
const MENDED: readonly string[] = ["invalid_csv_header", "unclear_encoding"];

/** Gathers what is shown of the rows. */
function createGathering() {
  const found = {
    lines: [] as number[],
    plants: [] as { plant: NewPlant; row: number }[],
    problems: [] as ImportProblem[],
    repeats: new Map<number, RepeatedRow>(),
    refused: 0,
  };
  const { lines, plants, problems, repeats } = found;
  const seen = findRepeats();

  function add(read: Row): void {
    const row = lines.length;
    lines.push(read.line);
    if ("refusal" in read) {
      found.refused += 1;
      if (problems.length < PROBLEMS_SHOWN) problems.push(toProblem(read));
      return;
    }
    const repeat = seen.see(read.plant, row);
    if (repeat) repeats.set(row, { ...repeat, isIdMade: read.isIdMade === true });
    if (plants.length < PLANTS_SHOWN) plants.push({ plant: read.plant, row });
  }

  return { found, add };
}

export function toProblem({ line, refusal: { number: error, message } }: Extract<Row, { refusal: unknown }>): ImportProblem {
  return { line, error, message };
}
