import type { Bytes } from "./bytes.ts";
import { PlantStoreError } from "../domain/errors.ts";
import { countFilled, isEmpty } from "./cells.ts";
import type { CellRow, CellSource, RefusedLine } from "./cells.ts";
import { openCsv, openPlainCsv } from "./csv.ts";
import type { Archive } from "./darwin-core.ts";
import { readNdjson } from "./ndjson.ts";
import { readAsked, readPlain } from "./reading/read-table.ts";
import type { Asked } from "./reading/reading.ts";
import { addDoubt, PLAIN } from "./row.ts";
import type { Findings, ReadOptions, Rows } from "./row.ts";
import { openSheetCells } from "./workbook/sheet.ts";
import type { Sheet } from "./workbook/workbook.ts";

export type FileFormat = "csv" | "ndjson";

/** Where the rows of a file come from: lines of JSON; text in cells; or the sheets of a workbook. `notes`: what people should know of it. */
export type FileSource = Readonly<{ notes?: readonly string[] }> &
  (
    | Readonly<{ format: "ndjson"; bytes: Bytes }>
    | Readonly<{ format: "csv"; bytes: Bytes; archive?: Archive }>
    | Readonly<{ format: "workbook"; sheets: readonly Sheet[] }>
  );

/** Reads the plants of a file, and why rows are none. Throws `invalid_csv_header`, an UnclearEncoding, and a TableError. */
export async function* readFile(source: FileSource, options: ReadOptions, findings: Findings): Rows {
  for (const note of source.notes ?? []) addDoubt(findings, note);
  yield* source.format === "ndjson" ? readNdjson(source.bytes, options, findings) : readTable(source, options, findings);
}

async function* readTable(source: TableSource, options: ReadOptions, findings: Findings): Rows {
  const { table = { plain: PLAIN }, lineBytesMax } = options;
  if ("asked" in table) {
    const cells = await openCells(source, table.asked, { lineBytesMax, findings });
    yield* readAsked(cells, table.asked, options, findings);
  } else {
    if (source.format === "workbook") throw new Error("no sheet of a workbook is plain");
    const cells = await openPlainCsv(source.bytes, { encoding: table.plain.encoding, lineBytesMax }, findings);
    yield* readPlain(cells, table.plain, options, findings);
  }
}

function tooManyCells(filled: number, width: number): string {
  return `The row has ${filled} cells, and the first row ${width}: a name may have the separator in it; make the archive again.`;
}

type TableSource = Exclude<FileSource, { format: "ndjson" }>;
type OpenOptions = Readonly<{ lineBytesMax: number; findings: Findings }>;

/** The cells of a table as people have it. */
async function openCells(source: TableSource, asked: Asked, { lineBytesMax, findings }: OpenOptions): Promise<CellSource> {
  if (source.format === "workbook") return openSheetCells(source.sheets, asked, lineBytesMax, findings);
  if (!source.archive) return openCsv(source.bytes, asked, lineBytesMax, findings);
  const { encoding, separator, quotes } = source.archive;
  return asDescribed(await openCsv(source.bytes, { encoding, separator, quotes, ...asked }, lineBytesMax, findings), source.archive);
}

/** The columns that an archive describes, and what stands in all rows. */
function asDescribed(cells: CellSource, { skippedLines, headings, defaults }: Archive): CellSource {
  const further = defaults.filter(({ at }) => at === undefined);
  /** Columns may have no term: as many as the first row has. */
  let width: number | undefined;
  function describe(row: CellRow | RefusedLine): CellRow | RefusedLine {
    if ("refusal" in row) return row;
    const filled = countFilled(row.cells);
    width ??= Math.max(headings.length, row.cells.length);
    if (filled > width) return { line: row.line, refusal: new PlantStoreError("malformed_row", { message: tooManyCells(filled, width) }) };
    const described = headings.map((_, at) => {
      const cell = row.cells[at];
      return isEmpty(cell) ? (defaults.find((one) => one.at === at)?.text ?? cell) : cell;
    });
    return { ...row, cells: [...described, ...further.map(({ text }) => text)] };
  }
  async function* rows(): CellSource["rows"] {
    for await (const some of cells.rows) yield some.filter(({ line }) => line > skippedLines).map(describe);
  }
  return { ...cells, rows: rows(), names: [...headings, ...further.map(({ heading }) => heading)], isExport: false };
}
