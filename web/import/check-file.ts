import type { FileFormat, ImportProblem } from "../../src/client/client.ts";
import { PlantStoreError } from "../../src/domain/errors.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import type { CellFaults } from "../../src/files/cells.ts";
import { bytesOf } from "../../src/files/bytes.ts";
import { FOREIGN_TEXT } from "../../src/files/cell-decoder.ts";
import { FIELDS } from "../../src/files/columns.ts";
import type { ColumnChoice, Places } from "../../src/files/columns.ts";
import { PLAIN } from "../../src/files/csv-options.ts";
import type { CsvOptions } from "../../src/files/csv-options.ts";
import { toUtf8 } from "../../src/files/encodings.ts";
import { createFindings } from "../../src/files/row.ts";
import type { Findings } from "../../src/files/row.ts";
import { readRows } from "./file-rows.ts";
import type { PlacedRow } from "./file-rows.ts";
import { findRepeats } from "./repeats.ts";
import type { Repeat } from "./repeats.ts";
import { cutSlices } from "./slices.ts";
import type { Header, Slice, SlicedFile } from "./slices.ts";

/** An id that was made replaces no plant. */
export type RepeatedRow = Repeat & Readonly<{ isIdMade: boolean }>;

/** A file that was read to its end, here, before anything is sent. */
export type CheckedFile = SlicedFile &
  Readonly<{
    format: FileFormat;
    faults: ReadonlyMap<number, CellFaults>;
    slices: readonly Slice[];
    rows: number;
    refused: number;
    plants: readonly Readonly<{ plant: NewPlant; row: number }>[];
    problems: readonly ImportProblem[];
    /** Rows that have the id of an earlier one, by their position. */
    repeats: ReadonlyMap<number, RepeatedRow>;
    /** How CSV was read: with the encoding that it turned out to have, and the columns that were taken. */
    csv: CsvOptions;
    /** The columns of CSV, and what they are taken for. */
    names: readonly string[];
    places?: Places;
    unusedColumns: readonly string[];
    failure: string | undefined;
  }>;

export type CheckOptions = Readonly<{
  signal: AbortSignal;
  onRows?: (rows: number, bytes: number) => void;
  format: FileFormat;
  csv?: CsvOptions;
  /** What the text of a workbook's cells does not say, by line. */
  faults?: ReadonlyMap<number, CellFaults>;
}>;

const NO_FAULTS: CheckedFile["faults"] = new Map();
const PLANTS_SHOWN = 5;
const PROBLEMS_SHOWN = 100;

/** How long to work before the page gets its turn. */
const TURN_MS = 12;

/** Reads the whole file without holding up the page. */
export async function checkFile(file: File, options: CheckOptions): Promise<CheckedFile> {
  const { signal, onRows, format, csv: asked = PLAIN, faults = NO_FAULTS } = options;
  const findings = createFindings();
  const { found, add } = createGathering(faults);
  const { starts, lines } = found;
  let turnAt = performance.now();
  let failure: string | undefined;
  try {
    for await (const placed of readRows(file, { format, csv: asked, faults }, findings)) {
      placed.forEach(add);
      if (performance.now() - turnAt > TURN_MS) {
        onRows?.(lines.length, placed.at(-1)?.start ?? 0);
        await new Promise((resolve) => setTimeout(resolve));
        turnAt = performance.now();
      }
      signal.throwIfAborted();
    }
  } catch (thrown) {
    if (!(thrown instanceof PlantStoreError)) throw thrown;
    failure = thrown.message;
  }
  // Each slice is sent by itself, and knows of no other: what is not UTF-8 is refused in all of them.
  if (found.isForeign) return checkFile(file, { ...options, csv: { ...asked, encoding: "utf-8" } });
  // The mark of UTF-8 belongs to the header, even where the first row begins with it.
  if (starts.length > 0) starts[0] = Math.max(starts[0]!, await markBytesOf(file));
  const header = format === "csv" && starts.length > 0 ? toHeader(found, asked, findings) : NO_HEADER;
  const read = { rows: lines.length, slices: cutSlices(starts, lines, file.size), csv: toTakenOptions(asked, findings), failure };
  return { file, format, header, faults, ...findings, ...found, ...read };
}

export function checkAgain({ file, format, faults }: CheckedFile, csv: CsvOptions, signal: AbortSignal): Promise<CheckedFile> {
  return checkFile(file, { format, faults, csv, signal });
}

type Found = ReturnType<typeof createGathering>["found"];

/** Gathers what is shown and sent of the rows. */
function createGathering(faults: CheckedFile["faults"]) {
  const found = {
    lines: [] as number[],
    starts: [] as number[],
    plants: [] as { plant: NewPlant; row: number }[],
    problems: [] as ImportProblem[],
    reasons: new Map<number, ImportProblem>(),
    repeats: new Map<number, RepeatedRow>(),
    refused: 0,
    /** Whether a text is neither UTF-8 nor Windows-1252. */
    isForeign: false,
  };
  const { lines, starts, plants, problems, reasons, repeats } = found;
  const seen = findRepeats();

  function refuse(line: number, { number: error, message }: PlantStoreError): void {
    found.refused += 1;
    found.isForeign ||= message === FOREIGN_TEXT;
    const problem = { line, error, message };
    if (faults.has(line)) reasons.set(line, problem);
    if (problems.length < PROBLEMS_SHOWN) problems.push(problem);
  }

  function add({ row: read, start }: PlacedRow): void {
    const row = lines.length;
    lines.push(read.line);
    starts.push(start);
    if ("refusal" in read) return refuse(read.line, read.refusal);
    const repeat = seen.see(read.plant, row);
    if (repeat) repeats.set(row, { ...repeat, isIdMade: read.isIdMade === true });
    if (plants.length < PLANTS_SHOWN) plants.push({ plant: read.plant, row });
  }

  return { found, add };
}

/** How CSV was read. What was in UTF-16 is UTF-8 since the file was opened. */
function toTakenOptions(asked: CsvOptions, { encoding, names, places }: Findings): CsvOptions {
  return {
    ...asked,
    encoding: encoding === undefined ? (asked.encoding ?? "utf-8") : "windows-1252",
    ...(places ? { guess: false, columns: toChoice(names, places) } : {}),
  };
}

const NO_HEADER: Header = { bytes: 0, names: "", lines: 0 };

function toHeader({ starts: [bytes = 0], lines: [line = 1] }: Found, { hasHeader }: CsvOptions, findings: Findings): Header {
  const { names, places, delimiter } = findings;
  if (hasHeader || !places) return { bytes, names: "", lines: line - 1 };
  return { bytes, names: toNamesLine(names, places, delimiter), lines: line };
}

/** How many bytes say that it is UTF-8. */
async function markBytesOf(file: Blob): Promise<number> {
  const { isMarked, encoding } = await toUtf8(bytesOf(file.slice(0, UTF8_MARK_BYTES).stream()));
  return isMarked && encoding === undefined ? UTF8_MARK_BYTES : 0;
}

const UTF8_MARK_BYTES = 3;

/** A line that names columns which have no names, so that they are taken for the same. A single one is followed by the delimiter, too. */
function toNamesLine(names: readonly string[], places: Places, delimiter: string): string {
  const named = names.map((name, at) => FIELDS.find((field) => places[field].includes(at)) ?? name);
  return `${named.join(delimiter)}${named.length === 1 ? delimiter : ""}\n`;
}

/** The columns that were taken. Where several are taken for one field, the service finds them by itself. */
function toChoice(names: readonly string[], places: Places): ColumnChoice {
  const keys = columnKeys(names);
  const chosen = FIELDS.filter((field) => places[field].length < 2).map((field) => [field, keys[places[field][0] ?? -1] ?? ""] as const);
  return Object.fromEntries(chosen);
}

/** How each column is called: by its name, if only it has this one, or its position. */
export function columnKeys(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  const isOnly = (name: string) => name !== "" && name.length <= KEY_LENGTH_MAX && counts.get(name.toLowerCase()) === 1;
  return names.map((name, at) => (isOnly(name) ? name : `column ${at + 1}`));
}

const KEY_LENGTH_MAX = 200;
