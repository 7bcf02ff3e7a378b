import { SHORTENED_ID } from "../../src/transfer/csv-row.ts";
import type { CsvReading } from "../../src/transfer/row.ts";
import { checkFile } from "./check-file.ts";
import type { CheckedFile, CheckOptions } from "./check-file.ts";

/** How a file is read before anybody chose something. */
const GUESSING: CsvReading = {
  hasHeader: true,
  columns: {},
  ids: { kind: "file" },
  encoding: undefined,
  isGuessing: true,
  isEmptyTagNone: true,
};
const MADE_IDS = { kind: "content" } as const;

type GuessOptions = Omit<CheckOptions, "csv">;

/** Reads a file as it is probably meant: its first line is a plant if it begins with a number, and has no name that is known. */
export async function guessFile(file: File, options: GuessOptions): Promise<CheckedFile> {
  const named = await guessReading(file, { ...options, hasHeader: true });
  if (named.failure === undefined || !/^\d+$/.test(named.names[0] ?? "")) return named;
  const unnamed = await guessReading(file, { ...options, hasHeader: false });
  return unnamed.refused < unnamed.rows ? unnamed : named;
}

/** The same, if it is known whether the first line names the columns: without ids if there are none, or only words in their place. */
export async function guessReading(file: File, { hasHeader, ...options }: GuessOptions & { hasHeader: boolean }): Promise<CheckedFile> {
  const guessing = { ...GUESSING, hasHeader };
  const checked = await checkFile(file, { ...options, csv: guessing });
  if (checked.format !== "csv") return checked;
  if (checked.failure !== undefined) return checkFile(file, { ...options, csv: { ...guessing, ids: MADE_IDS } });
  const [place] = checked.places?.id ?? [];
  const isGuessed = place !== undefined && !/^(id|catalognumber)$/i.test(checked.names[place]!);
  if (!isGuessed || checked.rows === 0 || checked.refused < checked.rows) return checked;
  // Those were ids, so rows must not get others.
  if (checked.problems.some(({ message }) => message === SHORTENED_ID)) return checked;
  const without = await checkFile(file, { ...options, csv: { ...guessing, columns: { id: "" }, ids: MADE_IDS } });
  return without.refused < checked.refused ? without : checked;
}
