import { PlantStoreError } from "../errors.ts";
import { toText } from "../plant.ts";
import type { NewPlant, PlantId } from "../plant.ts";
import type { PlantStore } from "../store/plants.ts";
import { csvWriter } from "./csv.ts";

export type Profile = "plain" | "dwc";

/** What can be asked of CSV alone. `guardFormulas`: no name or tag may be taken for a formula by a spreadsheet; it changes them. */
export type CsvOptions = Readonly<{ profile: Profile; guardFormulas: boolean }>;

/** The form of an export. Darwin Core is exchanged as CSV only. */
export type ExportForm = Readonly<{ format: "ndjson" }> | (Readonly<{ format: "csv" }> & CsvOptions);

/** The form for what was asked: NDJSON unless anything speaks for CSV. Throws `invalid_query` when the two do not fit. */
export function toExportForm(format: "ndjson" | "csv" | undefined, { profile, guardFormulas }: CsvOptions): ExportForm {
  const forCsv = profile === "dwc" ? "The profile dwc" : guardFormulas ? "The guard against formulas" : undefined;
  if (format === "csv" || (format === undefined && forCsv !== undefined)) return { format: "csv", profile, guardFormulas };
  if (forCsv === undefined) return { format: "ndjson" };
  throw new PlantStoreError("invalid_query", { message: `${forCsv} is for CSV: ask for csv as the format, or for none.` });
}

/** How many plants are read at a time at most, which takes about a millisecond. Of large ones so many bytes. */
const PIECE_PLANTS = 500;
const PIECE_BYTES = 500_000;

const CSV_HEADER = { plain: "id,name,tag\n", dwc: "catalogNumber,scientificName,tag\n" } as const;

/** The whole catalogue by id, as text in pieces. Each piece is read only when it is asked for. */
export async function* exportPlants(plants: Pick<PlantStore, "list">, form: ExportForm): AsyncGenerator<string, void, void> {
  const write = form.format === "csv" ? csvWriter(form) : toLine;
  if (form.format === "csv") yield CSV_HEADER[form.profile];
  let after: PlantId | undefined;
  for (;;) {
    // A store may answer at once, and a reader be as fast as it: others must have their turn all the same.
    await new Promise(setImmediate);
    const page = await plants.list({ limit: PIECE_PLANTS, bytesMax: PIECE_BYTES, after, tag: undefined, words: [] });
    const text = page.plants.map(write).join("");
    if (text !== "") yield text;
    if (page.isLast) return;
    after = page.plants.at(-1)?.id;
  }
}

function toLine(plant: NewPlant): string {
  return `${toText(plant)}\n`;
}
