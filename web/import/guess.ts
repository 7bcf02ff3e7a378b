import { SHORTENED_ID } from "../../src/transfer/csv.ts";
import type { CsvReading } from "../../src/transfer/row.ts";
import { checkFile } from "./check-file.ts";
import type { CheckedFile, CheckOptions } from "./check-file.ts";

/** How a file is read before anybody chose something. */
const GUESSING: CsvReading = { columns: {}, ids: { kind: "file" }, encoding: undefined, isGuessing: true, isEmptyTagNone: true };
const MADE_IDS = { kind: "content" } as const;

/** Reads a file as it is probably meant: without ids if it has none, or only words where they would be. */
export async function guessFile(file: File, options: Omit<CheckOptions, "csv">): Promise<CheckedFile> {
  const checked = await checkFile(file, { ...options, csv: GUESSING });
  if (checked.format !== "csv") return checked;
  if (checked.failure !== undefined) return checkFile(file, { ...options, csv: { ...GUESSING, ids: MADE_IDS } });
  const [place] = checked.places?.id ?? [];
  const isGuessed = place !== undefined && !/^(id|catalognumber)$/i.test(checked.names[place]!);
  if (!isGuessed || checked.rows === 0 || checked.refused < checked.rows) return checked;
  // Those were ids, so rows must not get others.
  if (checked.problems.some(({ message }) => message === SHORTENED_ID)) return checked;
  const without = await checkFile(file, { ...options, csv: { ...GUESSING, columns: { id: "" }, ids: MADE_IDS } });
  return without.refused < checked.refused ? without : checked;
}
