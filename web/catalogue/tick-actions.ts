import type { Plant, PlantChange } from "../../src/client/client.ts";
import { toText } from "../../src/plant.ts";
import { CSV_HEADER, csvWriter } from "../../src/transfer/csv-writer.ts";
import { DONE_MS, quoteTag } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { saveFile } from "../save-file.ts";
import { count } from "./bulk-text.ts";
import type { BulkChanges } from "./bulk-changes.ts";
import type { ExportKind } from "./export-to-file.ts";

/** Gives the plants this tag, or none. */
export async function setTag(bulkChanges: BulkChanges, notices: Notices, plants: readonly Plant[], tag: string | undefined): Promise<void> {
  const changes = plants.filter((plant) => plant.tag !== tag).map((from): PlantChange => ({ from, to: withTag(from, tag) }));
  if (changes.length === 0) notices.add({ kind: "done", text: "There is nothing to change.", lastsMs: DONE_MS });
  else await bulkChanges.run({ changes, total: changes.length, doing: "Changing the tag", done: doneText(tag) });
}

/** "tagged “tree”" */
export function doneText(tag: string | undefined): string {
  return tag === undefined ? "without a tag now" : `tagged ${quoteTag(tag)} now`;
}

export function withTag({ id, name }: Plant, tag: string | undefined): Plant {
  return tag === undefined ? { id, name } : { id, name, tag };
}

/** Saves the plants as a file that can be imported, by id. */
export function savePlants(notices: Notices, plants: readonly Plant[], kind: ExportKind): void {
  const format = kind === "spreadsheet" ? "csv" : kind;
  const sorted = plants.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const lines =
    format === "csv"
      ? [CSV_HEADER.plain, ...sorted.map(csvWriter({ guardFormulas: kind === "spreadsheet" }))]
      : sorted.map((plant) => `${toText(plant)}\n`);
  const name = `plants-${new Date().toISOString().slice(0, 10)}.${format}`;
  saveFile(new Blob(lines), name);
  notices.add({ kind: "done", text: `${name} is saved, with ${count(plants.length)}.`, lastsMs: DONE_MS });
}
