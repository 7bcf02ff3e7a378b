import type { ImportProblem } from "../../src/client/client.ts";
import { REFUSED_LINE } from "../../src/files/sheet.ts";

/** Some rows of a file, one behind the other: their bytes, the line on which they begin, and how many rows are before. */
export type Slice = Readonly<{ start: number; end: number; line: number; rows: number; before: number }>;

/**
 * What each slice of CSV needs in front of it: so many bytes of the file, all before the first row; then the names of the
 * columns, if the file has none but a row that shows how many there are. `lines`: how many lines that is.
 */
export type Header = Readonly<{ bytes: number; names: string; lines: number }>;

/** What of a file is needed to send it in slices. */
export type SlicedFile = Readonly<{
  file: File;
  header: Header;
  /** On which line and at which byte each row begins. */
  lines: readonly number[];
  starts: readonly number[];
  /** Why rows of a workbook are refused for a fault of a cell, by line: the service cannot know. */
  reasons: ReadonlyMap<number, ImportProblem>;
}>;

/** What is sent at once: small enough to show progress, and to get the reason of every line that is refused. */
const SLICE_ROWS = 1_000;
const SLICE_BYTES = 1_000_000;

/** The bytes of a file from one place to another, or to its end. */
export async function bytesIn(file: Blob, start: number, end: number): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(start, end).arrayBuffer());
}

/** Cuts a file of so many bytes. `starts`, `lines`: where its rows begin. */
export function cutSlices(starts: readonly number[], lines: readonly number[], size: number): Slice[] {
  const slices: Slice[] = [];
  let first = 0;
  for (let row = 1; row <= starts.length; row += 1) {
    const [start, end] = [starts[first]!, starts[row] ?? size];
    if (row < starts.length && row - first < SLICE_ROWS && end - start < SLICE_BYTES) continue;
    slices.push({ start, end, line: lines[first]!, rows: row - first, before: first });
    first = row;
  }
  return slices;
}

/** A slice under its header, as it is sent: a row of a workbook that is refused for a fault of a cell is a line that the service refuses too. */
export async function sliceBody({ file, header, reasons }: SlicedFile, { start, end, line }: Slice): Promise<Blob> {
  const rows = file.slice(start, end);
  const above = [file.slice(0, header.bytes), header.names];
  if (reasons.size === 0) return new Blob([...above, rows]);
  const sent = (await rows.text()).split("\n").map((text, at) => (reasons.has(line + at) ? REFUSED_LINE : text));
  return new Blob([...above, sent.join("\n")]);
}

/** A problem of a slice, by its line in the file. */
export function toFileProblem({ line: sent, error, message }: ImportProblem, { header, reasons }: SlicedFile, slice: Slice): ImportProblem {
  const line = sent - header.lines + slice.line - 1;
  return reasons.get(line) ?? { line, error, message };
}

/** The rows of a slice that begin on these lines, as they stand in the file, each ended by a newline. */
export function pickRows({ file, lines, starts }: SlicedFile, { before, rows }: Slice, picked: ReadonlySet<number>): Promise<Blob[]> {
  const places = Array.from({ length: rows }, (_, at) => before + at).filter((row) => picked.has(lines[row]!));
  return Promise.all(places.map((row) => endLine(file.slice(starts[row], starts[row + 1] ?? file.size))));
}

/** The last line of a file may have no end of its own. */
async function endLine(row: Blob): Promise<Blob> {
  const last = await row.slice(-1).text();
  return /[\r\n]/.test(last) ? row : new Blob([row, "\n"]);
}

/** Refused rows as they stand in the file, under a line that names the columns: to be mended and imported again. */
export function refusedFile({ file, header }: SlicedFile, refusedLines: readonly Blob[]): Blob {
  return new Blob([file.slice(0, header.bytes), header.names, ...refusedLines]);
}
