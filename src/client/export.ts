import type { FileEnd } from "./file-end.ts";
import type { FileFormat } from "./file-format.ts";
import { parseJson } from "./json.ts";
import type { Limit } from "./limit.ts";
import type { PlantFilter } from "./page.ts";
import { parsePlant } from "./plant.ts";
import type { Plant } from "./plant.ts";
import { orUnexpected } from "./response.ts";

/**
 * `format`: NDJSON (default) or CSV. `profile`: `dwc` names the CSV columns with Darwin Core terms. `guardFormulas`:
 * puts a ' before names and tags in CSV that a spreadsheet would take for formulas.
 */
export type ExportQuery = PlantFilter & Readonly<{ format?: FileFormat; profile?: "plain" | "dwc"; guardFormulas?: boolean }>;

/**
 * The bytes of a file. `changesCursor`: what changed during the export and since is behind it; undefined if the service
 * keeps no changes.
 */
export type ExportedFile = ReadableStream<Uint8Array> & Readonly<{ changesCursor: string | undefined }>;

/** The plants of an export. `changesCursor` throws an Error before the first of them, and if the service keeps no changes. */
export type ExportedPlants = AsyncIterable<Plant> & Readonly<{ changesCursor: string }>;

type Watch = Readonly<{
  limit: Limit;
  /** How long to wait for the next byte. The clock stops while no one reads. */
  idleMs: number;
  /** Undefined if the service does not tell how the file ends. */
  end: FileEnd | undefined;
  /** Maps what the connection throws to what the caller gets. */
  toFailure: (cause: unknown) => unknown;
}>;

/** The bytes of a response, read only as fast as they are consumed. Fails if they stop before the end. */
export function watchBytes(body: ReadableStream<Uint8Array>, { limit, idleMs, end, toFailure }: Watch): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        limit.restart(idleMs);
        try {
          const { done, value } = await reader.read();
          if (done && end?.isReached() === false) throw new Error("the file ended before its last plant");
          if (done) return controller.close();
          end?.look(value);
          controller.enqueue(value);
        } catch (cause) {
          controller.error(toFailure(cause));
        } finally {
          limit.clear();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/**
 * The plants of an NDJSON stream. Cancels the stream if the loop ends early. Throws an UnexpectedAnswerError if a line
 * is not a plant.
 */
export async function* readPlants(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Plant, void, undefined> {
  const reader = bytes.getReader();
  const decode = decoder();
  try {
    let rest = "";
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const lines = `${rest}${decode(chunk.value)}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield parseLine(line);
    }
    decode();
    if (rest !== "") yield parseLine(rest);
  } finally {
    await reader.cancel();
  }
}

const NO_PLANT = "A line of the export is not a plant: repeat the export.";

/** Decodes a piece of UTF-8; without one, only checks that the last one did not end within a character. */
function decoder(): (piece?: Uint8Array) => string {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  return (piece) => orUnexpected(NO_PLANT, () => utf8.decode(piece, { stream: piece !== undefined }));
}

function parseLine(line: string): Plant {
  return orUnexpected(NO_PLANT, () => parsePlant(parseJson(line)));
}
