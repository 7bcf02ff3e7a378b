import { PlantStoreError } from "../errors.ts";
import { readCsv } from "../exchange/csv.ts";
import { exportPlants, toExportForm } from "../exchange/export.ts";
import { importRows } from "../exchange/import.ts";
import { readNdjson } from "../exchange/ndjson.ts";
import type { NewPlant } from "../plant.ts";
import type { PlantStore } from "../store/store.ts";
import type { BodyStream } from "./body.ts";
import type { Handlers } from "./router.ts";

type ExchangeOptions = Readonly<{
  plants: PlantStore;
  parsePlant: (value: unknown) => NewPlant;
  /** Longest line of an import. */
  lineBytesMax: number;
}>;

/** How many imports may run at a time; each holds some batches in memory. */
const IMPORTS_MAX = 4;

/** The catalogue as a file, in and out. */
export function exchangeHandlers(options: ExchangeOptions): Pick<Handlers, "importPlants" | "exportPlants"> {
  const { plants, parsePlant, lineBytesMax } = options;
  let running = 0;
  return {
    async importPlants({ parameters: { onConflict, dryRun }, body }) {
      if (running >= IMPORTS_MAX) throw new PlantStoreError("overloaded");
      const { type, bytes } = body as BodyStream;
      running += 1;
      try {
        const read = type === "text/csv" ? readCsv : readNdjson;
        const rows = read(bytes, { parsePlant, lineBytesMax });
        const summary = await importRows(plants, rows, { isReplacing: onConflict === "replace", isDryRun: dryRun });
        return { status: 200, body: JSON.stringify(summary) };
      } finally {
        running -= 1;
      }
    },
    exportPlants({ parameters: { format, profile }, headers }) {
      const form = toExportForm(format ?? (acceptsCsv(headers) ? "csv" : undefined), profile);
      return {
        status: 200,
        body: toStream(exportPlants(plants, form)),
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

/** A stream that makes each piece when the reader has taken the one before. */
function toStream(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}
