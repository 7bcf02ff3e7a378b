import type { CheckedFile } from "./check-file.ts";
import { readRows } from "./file-rows.ts";

/** The rows of a slice that begin on these lines, as they stand in it, each ended by a newline. */
export async function pickRows(
  slice: Blob,
  { format, csv }: Pick<CheckedFile, "format" | "csv">,
  lines: ReadonlySet<number>,
): Promise<Blob[]> {
  const picked: Blob[] = [];
  let from: number | undefined;
  function end(at: number): void {
    if (from !== undefined) picked.push(slice.slice(from, at));
    from = undefined;
  }
  for await (const placed of readRows(slice, { format, csv })) {
    for (const { row, start } of placed) {
      end(start);
      if (lines.has(row.line)) from = start;
    }
  }
  end(slice.size);
  return Promise.all(picked.map(endLine));
}

/** As they stood in the file, under a line that names the columns: to be mended and imported again. */
export function refusedFile({ file, header }: Pick<CheckedFile, "file" | "header">, refusedLines: readonly Blob[]): Blob {
  return new Blob([file.slice(0, header.bytes), header.names, ...refusedLines]);
}

/** The last line of a file may have no end of its own. */
async function endLine(row: Blob): Promise<Blob> {
  const last = await row.slice(-1).text();
  return /[\r\n]/.test(last) ? row : new Blob([row, "\n"]);
}
