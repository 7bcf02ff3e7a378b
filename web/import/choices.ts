import type { Client } from "../../src/client/client.ts";
import { FIELDS } from "../../src/files/columns.ts";
import type { PlantField } from "../../src/files/columns.ts";
import type { CsvOptions, Ids } from "../../src/files/csv-options.ts";
import { checkAgain, columnKeys } from "./check-file.ts";
import type { CheckedFile } from "./check-file.ts";
import { numberRows } from "./first-id.ts";
import { guessReading, MADE_IDS } from "./guess.ts";

/** What people said of how a table is to be read. All else is guessed. */
export type Choices = Readonly<{
  hasHeader?: boolean;
  /** By position, so that they last when the columns get other names; NO_COLUMN for none. */
  columns: Readonly<Partial<Record<PlantField, number>>>;
  /** Where ids come from, if there is no column for them. "free": numbers, from the first free one. */
  ids?: Exclude<Ids, { kind: "file" }> | Readonly<{ kind: "free" }>;
  dropEmptyTags?: boolean;
}>;

export const NO_CHOICES: Choices = { columns: {} };
export const NO_COLUMN = -1;

type ChosenReading = Readonly<{ checked: CheckedFile; isKnown: boolean }>;

/** Reads a file as it was chosen, all choices so far together. `isKnown`: it is already there under the numbers that it gets. */
export async function readAsChosen(
  checked: CheckedFile,
  choices: Choices,
  { client, signal }: Readonly<{ client: Client; signal: AbortSignal }>,
): Promise<ChosenReading> {
  const { file, format, faults } = checked;
  const { hasHeader = checked.csv.hasHeader, ids } = choices;
  const base = hasHeader === checked.csv.hasHeader ? checked : await guessReading(file, { hasHeader, format, faults, signal });
  const csv = toCsvOptions(base, choices);
  if (csv.ids.kind !== "file" && ids?.kind === "free") return numberRows({ ...base, csv }, { client, signal });
  return { checked: await checkAgain(base, csv, signal), isKnown: false };
}

/** The column of a field, by position: as it was chosen, or else as it is read. */
export function placeOf(field: PlantField, { csv, names, places }: CheckedFile, { columns }: Choices): number {
  const place = columns[field] ?? places?.[field][0] ?? columnKeys(names).indexOf(csv.columns[field] ?? "");
  return place < names.length ? place : NO_COLUMN;
}

function toCsvOptions(checked: CheckedFile, choices: Choices): CsvOptions {
  const { csv, names } = checked;
  const { ids, dropEmptyTags = csv.dropEmptyTags } = choices;
  const keys = columnKeys(names);
  const chosen = FIELDS.flatMap((field) => (choices.columns[field] === undefined ? [] : [[field, keys[choices.columns[field]] ?? ""]]));
  const made = ids === undefined || ids.kind === "free" ? MADE_IDS : ids;
  const isOfFile = placeOf("id", checked, choices) !== NO_COLUMN;
  return { ...csv, columns: { ...csv.columns, ...Object.fromEntries(chosen) }, ids: isOfFile ? { kind: "file" } : made, dropEmptyTags };
}
