import { toJson } from "../json.ts";
import { toText } from "../plant.ts";
import type { NewPlant, PlantId } from "../plant.ts";
import type { PlantStore } from "../store/store.ts";
import { toCsvRow } from "./csv.ts";

export type ExportOptions = Readonly<{ format: "ndjson" | "csv"; profile: "plain" | "dwc" }>;

/** How many plants are read at a time: a thousand take about two milliseconds. */
const PAGE = 1000;

const CSV_HEADER = { plain: "id,name,tag\n", dwc: "catalogNumber,scientificName,tag\n" } as const;

/** The whole catalogue by id, as text in pieces. Each piece is read only when it is asked for. */
export async function* exportPlants(plants: PlantStore, { format, profile }: ExportOptions): AsyncGenerator<string, void, void> {
  const write = format === "csv" ? toCsvRow : profile === "dwc" ? toDarwinCore : toLine;
  if (format === "csv") yield CSV_HEADER[profile];
  let after: PlantId | undefined;
  while (true) {
    const page = await plants.list({ limit: PAGE, after, tag: undefined, words: [] });
    if (page.length > 0) yield page.map(write).join("");
    if (page.length < PAGE) return;
    after = page.at(-1)?.id;
  }
}

function toLine(plant: NewPlant): string {
  return `${toText(plant)}\n`;
}

function toDarwinCore({ id, name, tag }: NewPlant): string {
  return `${toJson({ catalogNumber: id, scientificName: name, tag })}\n`;
}
