import { UnexpectedAnswerError } from "./errors.ts";
import type { FileFormat } from "./file-format.ts";
import { parseJson } from "./json.ts";
import type { Limit } from "./limit.ts";
import { parsePlant } from "./plant.ts";
import type { Plant } from "./plant.ts";

/**
 * What to export. `format`: NDJSON, the default, or CSV; `profile`: `dwc` names the columns of CSV by the terms of Darwin Core;
 * `guardFormulas`: puts a ' before names and tags of CSV that a spreadsheet would take for formulas.
 */
export type ExportQuery = Readonly<{ format?: FileFormat; profile?: "plain" | "dwc"; guardFormulas?: boolean }>;

type Watch = Readonly<{
  limit: Limit;
  /** Longest that a byte may take to come. The clock stands while nobody reads. */
  idleMs: number;
  /** What to throw in the place of what the connection throws. */
  toFailure: (cause: unknown) => unknown;
}>;

/** The bytes of an answer as they come, read only as fast as they are taken. Fails when they stop coming before their end. */
export function watchBytes(body: ReadableStream<Uint8Array>, { limit, idleMs, toFailure }: Watch): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        limit.restart(idleMs);
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
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

/** The plants of a stream of NDJSON. Lets go of the stream when the loop ends early. Throws an UnexpectedAnswerError when a line is none. */
export async function* readPlants(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Plant, void, undefined> {
  const reader = bytes.getReader();
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  try {
    let rest = "";
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const lines = `${rest}${utf8.decode(chunk.value, { stream: true })}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield parseLine(line);
    }
    if (rest !== "") yield parseLine(rest);
  } finally {
    await reader.cancel();
  }
}

function parseLine(line: string): Plant {
  try {
    return parsePlant(parseJson(line));
  } catch (cause) {
    throw new UnexpectedAnswerError({ message: "A line of the export is no plant: repeat it.", isRepeatable: true, status: 200, cause });
  }
}
