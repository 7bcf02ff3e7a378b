import { readFile } from "../../src/files/read-file.ts";
import { createFindings, SENDER_LIMITS } from "../../src/files/row.ts";
import type { Row } from "../../src/files/row.ts";
import type { CheckedFile } from "./check-file.ts";
import { openSource } from "./open-source.ts";

/** Some rows of a file, one behind the other, and how many are before. */
export type Slice = Readonly<{ rows: readonly Row[]; before: number }>;

/** What is sent at once: small enough to show progress, and to get the reason of every line that is refused. */
const SLICE_ROWS = 1_000;
const SLICE_CHARACTERS = 1_000_000;

/** Reads a file again, slice by slice. */
export async function* readSlices({ file, asked }: Pick<CheckedFile, "asked" | "file">): AsyncGenerator<Slice, void, void> {
  let rows: Row[] = [];
  let length = 0;
  let before = 0;
  for await (const some of readFile(await openSource(file), { ...SENDER_LIMITS, table: { asked } }, createFindings())) {
    for (const row of some) {
      rows.push(row);
      if ("plant" in row) length += row.plant.name.length + (row.plant.tag?.length ?? 0);
      if (rows.length < SLICE_ROWS && length < SLICE_CHARACTERS) continue;
      yield { rows, before };
      before += rows.length;
      rows = [];
      length = 0;
    }
  }
  if (rows.length > 0) yield { rows, before };
}
