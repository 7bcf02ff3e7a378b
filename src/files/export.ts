import { invalidQuery } from "../domain/errors.ts";
import { openPauses } from "../runtime/event-loop.ts";
import { toText } from "../domain/plant.ts";
import type { NewPlant, PlantId } from "../domain/plant.ts";
import type { ListQuery, Snapshot } from "../store/plants.ts";
import { isFound } from "../domain/terms.ts";
import type { SearchTerms } from "../domain/terms.ts";
import { CSV_HEADER, csvWriter, SPREADSHEET_MARK } from "./csv-writer.ts";

export type Profile = keyof typeof CSV_HEADER;

/** For CSV only. `guardFormulas`: keeps spreadsheets from taking a name or tag for a formula, by changing it. */
export type CsvForm = Readonly<{ profile: Profile; guardFormulas: boolean }>;

/** The format of an export, with its options. Darwin Core is CSV only. */
export type ExportForm = Readonly<{ format: "ndjson" }> | (Readonly<{ format: "csv" }> & CsvForm);

/** Defaults to NDJSON, or to CSV if an option needs it. Throws `invalid_query` if format and options do not fit. */
export function toExportForm(format: "ndjson" | "csv" | undefined, { profile, guardFormulas }: CsvForm): ExportForm {
  const forCsv = profile === "dwc" ? "The profile dwc" : guardFormulas ? "The guard against formulas" : undefined;
  if (format === "csv" || (format === undefined && forCsv !== undefined)) return { format: "csv", profile, guardFormulas };
  if (forCsv === undefined) return { format: "ndjson" };
  throw invalidQuery(`${forCsv} works with CSV only: ask for the format csv, or for none.`);
}

/** How many plants to read at a time, and how many bytes of large ones. It takes about a millisecond. */
const PIECE_PLANTS = 500;
const PIECE_BYTES = 500_000;

type ExportOptions = Readonly<{ form: ExportForm; terms: SearchTerms }>;

/** How many pieces to look at for the last plant that matches: some dozens of milliseconds, before the first byte. */
const LAST_PIECES_MAX = 40;

/**
 * The id of the last plant that an export of these plants will hold. Undefined if none of the last ones matches: only
 * the export itself can tell then.
 */
export async function findLastId(plants: Pick<Snapshot, "list">, terms: SearchTerms): Promise<PlantId | undefined> {
  let pieces = 0;
  for await (const [last] of findAll(plants, terms, { descending: true })) {
    pieces += 1;
    if (last || pieces === LAST_PIECES_MAX) return last?.id;
  }
  return undefined;
}

/** The plants that match, by id, as text in pieces. Each piece is read only on demand. */
export async function* exportPlants(plants: Pick<Snapshot, "list">, { form, terms }: ExportOptions): AsyncGenerator<string, void, void> {
  const write = form.format === "csv" ? csvWriter(form) : toLine;
  if (form.format === "csv") yield (form.guardFormulas ? SPREADSHEET_MARK : "") + CSV_HEADER[form.profile];
  for await (const found of findAll(plants, terms, { descending: false })) if (found.length > 0) yield found.map(write).join("");
}

type Direction = Required<Pick<ListQuery, "descending">>;

/**
 * The plants that match, of one piece after the other. It looks at each plant of the snapshot, on PostgreSQL at those of a
 * tag, because an index of words is of another moment.
 */
async function* findAll(
  plants: Pick<Snapshot, "list">,
  terms: SearchTerms,
  { descending }: Direction,
): AsyncGenerator<readonly NewPlant[], void, void> {
  const tag = terms.tag ?? undefined;
  let after: PlantId | undefined;
  for (;;) {
    // If the store never waits, nor the reader, other requests must still get their turn.
    await new Promise(setImmediate);
    const page = await plants.list({ descending, limit: PIECE_PLANTS, bytesMax: PIECE_BYTES, after, tag, words: [] });
    yield findAmong(page.plants, terms);
    if (page.isLast) return;
    after = page.reached ?? page.plants.at(-1)?.id;
  }
}

/** Yields to other requests: the words of a thousand of the worst names take half a second. */
async function findAmong(plants: readonly NewPlant[], terms: SearchTerms): Promise<readonly NewPlant[]> {
  const found: NewPlant[] = [];
  const pauses = openPauses();
  for (const plant of plants) {
    if (isFound(plant, terms)) found.push(plant);
    const pause = pauses();
    if (pause) await pause;
  }
  return found;
}

function toLine(plant: NewPlant): string {
  return `${toText(plant)}\n`;
}
