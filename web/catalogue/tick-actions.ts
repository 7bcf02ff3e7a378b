import type { Plant } from "../../src/client/client.ts";
import { toText } from "../../src/domain/plant.ts";
import { CSV_HEADER, csvWriter, SPREADSHEET_MARK } from "../../src/files/csv-writer.ts";
import { DONE_MS } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { saveFile } from "../save-file.ts";
import { count } from "./bulk-text.ts";
import type { ExportKind } from "./export-to-file.ts";

/** Saves the plants as a file that can be imported, by id. */
export function savePlants(notices: Notices, plants: readonly Plant[], kind: ExportKind): void {
  const guardFormulas = kind === "spreadsheet";
  const format = guardFormulas ? "csv" : kind;
  const sorted = plants.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const lines =
    format === "csv"
      ? [guardFormulas ? SPREADSHEET_MARK : "", CSV_HEADER.plain, ...sorted.map(csvWriter({ guardFormulas }))]
      : sorted.map((plant) => `${toText(plant)}\n`);
  const name = `plants-${new Date().toISOString().slice(0, 10)}.${format}`;
  saveFile(new Blob(lines), name);
  notices.add({ kind: "done", text: `${name} is saved, with ${count(plants.length)}.`, lastsMs: DONE_MS });
}
