import type { Client } from "../../src/client/client.ts";
import { failureText, isAbort } from "../failure-text.ts";
import { holdPage } from "../leaving.ts";
import { DONE_MS, PROBLEM_MS } from "../notices.ts";
import type { Notices } from "../notices.ts";
import { saveFile } from "../save-file.ts";
import { filterOf, isEverything } from "../view.ts";
import type { View } from "../view.ts";

/** "spreadsheet" is CSV in which no name or tag is taken for a formula. */
export type ExportKind = "csv" | "ndjson" | "spreadsheet";

const DETAIL_MS = 250;

type Exporting = Readonly<{ client: Client; notices: Notices; /** What is shown. */ view: View }>;

/** Gathers the plants that are shown, the whole catalogue without a search or tag, telling how far it is, and saves it as a file. The token goes in a header: a link could not take it along. */
export async function exportToFile({ client, notices, view }: Exporting, kind: ExportKind): Promise<void> {
  const stop = new AbortController();
  const format = kind === "spreadsheet" ? "csv" : kind;
  const isPart = !isEverything(view);
  const name = `${isPart ? "found-plants" : "plants"}-${new Date().toISOString().slice(0, 10)}.${format}`;
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
    const stream = await client.exportPlants({ ...filterOf(view), format, guardFormulas: kind === "spreadsheet", signal: stop.signal });
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

function megabytes(bytes: number): string {
  if (bytes < 100_000) return `${Math.ceil(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toLocaleString(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 })} MB`;
}
