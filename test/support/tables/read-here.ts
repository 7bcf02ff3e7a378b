import { bytesOf } from "../../../src/files/bytes.ts";
import { gunzip } from "../../../src/files/gunzip.ts";
import { openFile } from "../../../src/files/open-file.ts";
import { readFile } from "../../../src/files/read-file.ts";
import type { Asked } from "../../../src/files/reading/reading.ts";
import { createFindings, fileLimits } from "../../../src/files/row.ts";
import type { Findings, Row } from "../../../src/files/row.ts";

const LIMITS = fileLimits(65_536);

/** The rows that the reader alone makes of a file, and what it has found out. */
export async function readHere(
  file: string | Uint8Array,
  asked: Asked = {},
): Promise<Readonly<{ rows: readonly Row[]; findings: Findings }>> {
  const bytes = bytesOf(new Blob([Buffer.from(file as string)]).stream());
  const findings = createFindings();
  const whole = async (all: AsyncIterable<Uint8Array>) => new Blob((await Array.fromAsync(all)).map(Buffer.from));
  const source = await openFile({ bytes, whole, gunzip });
  const rows = (await Array.fromAsync(readFile(source, { ...LIMITS, table: { asked } }, findings))).flat();
  return { rows, findings };
}

export function plantsIn(rows: readonly Row[]) {
  return rows.flatMap((row) => ("plant" in row ? [row] : []));
}

export function refusedIn(rows: readonly Row[]): number[] {
  return rows.filter((row) => "refusal" in row).map(({ line }) => line);
}
