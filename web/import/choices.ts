import type { Client } from "../../src/client/client.ts";
import type { Asked, Ids } from "../../src/files/reading/reading.ts";
import { checkFile } from "./check-file.ts";
import type { CheckedFile } from "./check-file.ts";
import { numberRows } from "./first-id.ts";

/** How people want a table to be read; all else is guessed. "free": numbers, from the first free one. Columns are chosen by position. */
export type Choices = Omit<Asked, "ids"> & Readonly<{ ids?: Exclude<Ids, { kind: "file" }> | Readonly<{ kind: "free" }> }>;

export const NO_CHOICES: Choices = {};

type ChosenReading = Readonly<{ checked: CheckedFile; isKnown: boolean }>;

/** Reads a file as it was chosen, all choices so far together. `isKnown`: it is already there under the numbers that it gets. */
export async function readAsChosen(
  { file }: Pick<CheckedFile, "file">,
  { ids, ...others }: Choices,
  { client, signal }: Readonly<{ client: Client; signal: AbortSignal }>,
): Promise<ChosenReading> {
  const isFree = ids?.kind === "free";
  const asked: Asked = ids === undefined ? others : { ...others, ids: isFree ? { kind: "content" } : ids };
  const checked = await checkFile(file, asked, { signal });
  return isFree && checked.failure === undefined ? numberRows(checked, { client, signal }) : { checked, isKnown: false };
}

/** What goes with a choice that makes other cells of the file: columns, and with another sheet the line that names them. */
const VOID = {
  separator: ["id", "name", "tag"],
  quotes: [],
  encoding: [],
  sheet: ["id", "name", "tag", "heading"],
} as const satisfies Partial<Record<keyof Choices, readonly (keyof Choices)[]>>;

export function chooseCells<Key extends keyof typeof VOID>(choices: Choices, key: Key, value: Choices[Key]): Choices {
  const gone: readonly string[] = VOID[key];
  return { ...Object.fromEntries(Object.entries(choices).filter(([choice]) => !gone.includes(choice))), [key]: value };
}

/** Columns that the row does not have are guessed again. */
export function chooseHeading(choices: Choices, line: number, cells: number): Choices {
  const isThere = (key: string) => key === "" || placeOf([], key) < cells;
  const { id, name, tag, ...others } = choices;
  return {
    ...others,
    heading: line,
    ...(id !== undefined && isThere(id) ? { id } : {}),
    ...(name?.every(isThere) === true ? { name } : {}),
    ...(tag !== undefined && isThere(tag) ? { tag } : {}),
  };
}

/** As a column is chosen, whatever it is called. */
export function toKey(at: number): string {
  return at === NO_COLUMN ? "" : `column ${at + 1}`;
}

export const NO_COLUMN = -1;

/** The position of a column that is called like this, or chosen by its position. */
export function placeOf(keys: readonly string[], key: string): number {
  const at = keys.indexOf(key);
  return at === -1 ? Number(/^column (\d+)$/.exec(key)?.[1] ?? 0) - 1 : at;
}
