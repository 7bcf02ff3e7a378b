import { PlantStoreError } from "../errors.ts";
import { readCsv } from "../exchange/csv.ts";
import { exportPlants, toExportForm } from "../exchange/export.ts";
import type { ExportForm } from "../exchange/export.ts";
import { importRows } from "../exchange/import.ts";
import { readNdjson } from "../exchange/ndjson.ts";
import { whileMoving } from "../exchange/row.ts";
import type { Log } from "../log.ts";
import type { NewPlant } from "../plant.ts";
import type { PlantStore } from "../store/store.ts";
import type { BodyStream } from "./body.ts";
import type { Handlers } from "./router.ts";

type ExchangeOptions = Readonly<{
  plants: PlantStore;
  parsePlant: (value: unknown) => NewPlant;
  /** Longest line of an import. */
  lineBytesMax: number;
  log: Log;
}>;

/** How many imports, and how many exports, may run at a time; each holds some plants in memory. */
const IMPORTS_MAX = 4;
const EXPORTS_MAX = 16;

/** How long a sender may send nothing, and a reader take nothing, in milliseconds. */
const IDLE_MS = 60_000;

/** The catalogue as a file, in and out. */
export function exchangeHandlers(options: ExchangeOptions): Pick<Handlers, "importPlants" | "exportPlants"> {
  const { plants, parsePlant, lineBytesMax, log } = options;
  let imports = 0;
  let exports = 0;
  async function* exporting(form: ExportForm): AsyncGenerator<string, void, void> {
    exports += 1;
    try {
      yield* exportPlants(plants, form);
    } finally {
      exports -= 1;
    }
  }

  return {
    async importPlants({ parameters: { onConflict, dryRun }, body }) {
      if (imports >= IMPORTS_MAX) throw new PlantStoreError("overloaded");
      const { type, bytes } = body as BodyStream;
      imports += 1;
      try {
        const read = type === "text/csv" ? readCsv : readNdjson;
        const rows = read(whileMoving(bytes, IDLE_MS), { parsePlant, lineBytesMax });
        const summary = await importRows(plants, rows, { isReplacing: onConflict === "replace", isDryRun: dryRun });
        return { status: 200, body: JSON.stringify(summary) };
      } finally {
        imports -= 1;
      }
    },
    async exportPlants({ parameters: { format, profile }, headers }) {
      const form = toExportForm(format ?? (acceptsCsv(headers) ? "csv" : undefined), profile);
      if (exports >= EXPORTS_MAX) throw new PlantStoreError("overloaded");
      // What could not even begin is answered 503; later it can only break off.
      await plants.list({ limit: 1, after: undefined, tag: undefined, words: [] });
      return {
        status: 200,
        body: toStream(exporting(form), log),
        headers: {
          "content-type": form.format === "csv" ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson",
          "content-disposition": `attachment; filename="plants.${form.format}"`,
        },
      };
    },
  };
}

function acceptsCsv(headers: Headers): boolean {
  return headers.get("accept")?.includes("text/csv") ?? false;
}

/** A stream that makes each piece when the reader has taken the one before, and gives up a reader that takes none. */
function toStream(texts: AsyncGenerator<string, void, void>, log: Log): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    clearTimeout(timer);
    try {
      const { done, value } = await texts.next();
      if (done) return controller.close();
      controller.enqueue(encoder.encode(value));
    } catch (reason) {
      log.error("export_failed", { reason });
      throw reason;
    }
    timer = setTimeout(() => {
      controller.error(new Error("The reader stood still."));
      void texts.return();
    }, IDLE_MS);
  }

  async function cancel(): Promise<void> {
    clearTimeout(timer);
    await texts.return();
  }

  // Nothing is read ahead: for a HEAD, nothing at all.
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}
