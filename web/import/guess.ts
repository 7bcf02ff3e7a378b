import { BROKEN_CELL, GROUPED_ID, SHORTENED_ID } from "../../src/files/table.ts";
import { CSV_HEADER } from "../../src/files/csv-writer.ts";
import type { CsvOptions } from "../../src/files/csv-options.ts";
import { checkFile } from "./check-file.ts";
import type { CheckedFile, CheckOptions } from "./check-file.ts";

/** How a file is read before anyone chose something. */
const GUESSING: CsvOptions = {
  hasHeader: true,
  columns: {},
  ids: { kind: "file" },
  encoding: undefined,
  guess: true,
  dropEmptyTags: true,
};
export const MADE_IDS = { kind: "content" } as const;

type GuessOptions = Omit<CheckOptions, "csv">;

/** Reads a file as it is probably meant: its first line is a plant if it begins with an id or a code, and has no name that is known. */
export async function guessFile(file: File, options: GuessOptions): Promise<CheckedFile> {
  const named = await guessReading(file, { ...options, hasHeader: true });
  if (named.failure === undefined || !/\d/.test(named.names[0] ?? "")) return named;
  const unnamed = await guessReading(file, { ...options, hasHeader: false });
  return unnamed.places?.name[0] === 1 && unnamed.refused < unnamed.rows ? unnamed : named;
}

/** The same, if it is known whether the first line names the columns: without ids if there are none, or only words in their place. */
export async function guessReading(file: File, { hasHeader, ...options }: GuessOptions & { hasHeader: boolean }): Promise<CheckedFile> {
  const guessing = { ...GUESSING, hasHeader, dropEmptyTags: !(await isExport(file)) };
  const checked = await checkFile(file, { ...options, csv: guessing });
  if (checked.format !== "csv") return checked;
  if (checked.failure !== undefined) {
    const without = await checkFile(file, { ...options, csv: { ...guessing, ids: MADE_IDS } });
    if (hasHeader || !hasCodes(without)) return without;
    const columns = { id: "", name: "column 2", tag: without.names.length > 2 ? "column 3" : "" };
    const coded = await checkFile(file, { ...options, csv: { ...guessing, columns, ids: MADE_IDS } });
    return coded.refused > without.refused ? without : coded;
  }
  const [place] = checked.places?.id ?? [];
  const isGuessed = place !== undefined && !/^(id|catalognumber)$/i.test(checked.names[place]!);
  if (!isGuessed || checked.rows === 0 || checked.refused < checked.rows) return checked;
  // Those were ids, so rows must not get others.
  if (checked.problems.some(({ message }) => [SHORTENED_ID, GROUPED_ID, BROKEN_CELL].includes(message))) return checked;
  const without = await checkFile(file, { ...options, csv: { ...guessing, columns: { id: "" }, ids: MADE_IDS } });
  return without.refused < checked.refused ? without : checked;
}

/** Whether it begins like an export, in which a quoted empty tag is one. */
async function isExport(file: Blob): Promise<boolean> {
  // Without the mark of UTF-8.
  const start = await file.slice(0, 100).text();
  return Object.values(CSV_HEADER).some((header) => start.startsWith(header));
}

/** Whether the first cells of the rows are codes, such as A-17, which are taken for names so far. One row alone may have any. */
function hasCodes({ places, plants: [first, second] }: CheckedFile): boolean {
  if (places?.name[0] !== 0 || first?.row !== 0 || !CODE.test(first.plant.name)) return false;
  return second === undefined || shapeOf(second.plant.name) === shapeOf(first.plant.name);
}

/** Digits and something else, without a space. */
const CODE = /^(?=.*\d)(?=.*\D)\S+$/;

/** "a-9" for A-17 and XY-4. */
function shapeOf(text: string): string {
  return text.replace(/\p{L}+/gu, "a").replace(/\d+/g, "9");
}
