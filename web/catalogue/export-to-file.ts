import type { Plant } from "../../src/client/client.ts";
import { toText } from "../../src/domain/plant.ts";
import { CSV_HEADER, csvWriter, SPREADSHEET_MARK } from "../../src/files/csv-writer.ts";
import { failureText, isAbort } from "../failure-text.ts";
import { holdPage } from "../leaving.ts";
import { DONE_MS, Notices, PROBLEM_MS } from "../notices.ts";
import { saveFile } from "../save-file.ts";
import { filterOf, isEverything } from "../view.ts";
import type { View } from "../view.ts";
import { count } from "./bulk-text.ts";
import type { Catalogue } from "./catalogue.ts";

/** "spreadsheet" is CSV in which no name or tag is taken for a formula. */
export type ExportKind = "csv" | "ndjson" | "spreadsheet";

const DETAIL_MS = 250;

/** Gathers the plants of a view, the whole catalogue without a search or tag, telling how far it is, and saves it as a file. The token goes in a header: a link could not take it along. */
export async function exportToFile({ client, context: { notices } }: Catalogue, view: View, kind: ExportKind): Promise<void> {
  const stop = new AbortController();
  const isPart = !isEverything(view);
  const { name, format, guardFormulas } = fileOf(kind, isPart ? "found-plants" : "plants");
  const notice = notices.add({
    kind: "done",
    text: isPart ? `Exporting what is shown as ${name}` : `Exporting ${name}`,
    action: { label: "Cancel", run: () => stop.abort() },
  });
  const release = holdPage();
  let bytes = 0;
  let lastShownAt = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      controller.enqueue(chunk);
      if (performance.now() - lastShownAt < DETAIL_MS) return;
      lastShownAt = performance.now();
      notices.update(notice, { detail: megabytes(bytes) });
    },
  });
  try {
    const stream = await client.exportPlants({ ...filterOf(view), format, guardFormulas, signal: stop.signal });
    const file = new Response(counted.readable).blob();
    // Of what breaks off in its middle, a browser says here that it failed: the stream knows why.
    file.catch(() => undefined);
    await stream.pipeTo(counted.writable);
    saveFile(await file, name);
    notices.add({ kind: "done", text: `${name} is saved, ${megabytes(bytes)}.`, lastsMs: DONE_MS });
  } catch (thrown) {
    if (isAbort(thrown)) notices.add({ kind: "done", text: "The export was cancelled.", lastsMs: DONE_MS });
    else notices.add({ kind: "problem", text: `Nothing was saved. ${failureText(thrown)}`, lastsMs: PROBLEM_MS });
  } finally {
    notices.close(notice);
    release();
  }
}

/** Saves the plants as a file that can be imported, by id. */
export function savePlants(notices: Notices, plants: readonly Plant[], kind: ExportKind): void {
  const { name, format, guardFormulas } = fileOf(kind, "plants");
  const sorted = plants.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const lines =
    format === "csv"
      ? [guardFormulas ? SPREADSHEET_MARK : "", CSV_HEADER.plain, ...sorted.map(csvWriter({ guardFormulas }))]
      : sorted.map((plant) => `${toText(plant)}\n`);
  saveFile(new Blob(lines), name);
  notices.add({ kind: "done", text: `${name} is saved, with ${count(plants.length)}.`, lastsMs: DONE_MS });
}

function fileOf(kind: ExportKind, what: string) {
  const guardFormulas = kind === "spreadsheet";
  const format = guardFormulas ? "csv" : kind;
  return { name: `${what}-${new Date().toISOString().slice(0, 10)}.${format}`, format, guardFormulas } as const;
}

function megabytes(bytes: number): string {
  if (bytes < 100_000) return `${Math.ceil(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toLocaleString(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 })} MB`;
}
