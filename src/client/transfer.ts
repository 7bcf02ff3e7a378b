import { readResponse } from "./response.ts";
import type { CallOptions, Client } from "./calls.ts";
import { queryText } from "./request.ts";
import type { ClientContext, Query } from "./request.ts";
import { readPlants, watchBytes } from "./export.ts";
import type { ExportedFile } from "./export.ts";
import { createFileEnd } from "./file-end.ts";
import { detectFormat, HEAD_BYTES } from "./file-format.ts";
import type { FileFormat } from "./file-format.ts";
import { parseImportSummary, readingText } from "./import.ts";
import type { ImportQuery, ImportSource, ImportSummary } from "./import.ts";
import { startLimit } from "./limit.ts";
import { withRetries } from "./retry.ts";
import { toFailure } from "./transport.ts";
import type { Outgoing } from "./transport.ts";
import { BYTES_PER_MS_MIN, createUpload } from "./upload.ts";

/** The calls for whole catalogues. They stream, and only idle time is limited. */
export function importCalls({ exchange, idleMs }: ClientContext): Pick<Client, "importPlants"> {
  return {
    async importPlants(source, { format: given, signal, onProgress, reading, ...query } = {}) {
      const format = given ?? (await formatOf(source));
      const isAny = reading !== undefined || format === "any";
      const type = isAny ? ANY : format === "csv" ? "text/csv" : "application/x-ndjson";
      const isPacked = await isGzip(source);
      const limit = startLimit(idleMs);
      const bytesTotal = source instanceof Blob ? { bytesTotal: source.size } : {};
      const upload = createUpload(source, {
        isList: format === "list" && !isAny,
        limit,
        idleMs,
        signal,
        onBytes: (bytes) => onProgress?.({ bytes, ...bytesTotal }),
      });
      const outgoing: Outgoing = {
        method: "POST",
        path: `/plants/import${queryText({ ...query, reading: reading && readingText(reading) })}`,
        headers: {
          "content-type": type,
          ...(isPacked ? { "content-encoding": "gzip" } : {}),
        },
        isRepeatable: true,
        signal,
      };
      try {
        return await exchange({ ...outgoing, body: await upload.open() }, limit, readImportSummary);
      } catch (thrown) {
        const failure = upload.failure();
        if (failure) throw failure.thrown;
        // It may be aborted while the source is still being collected, before there is a request.
        throw limit.signal.aborted || signal?.aborted ? toFailure(thrown, outgoing, limit) : thrown;
      } finally {
        limit.clear();
        upload.close();
      }
    },
  };
}

/**
 * Imports a text of NDJSON, for a page: it has all of it, and sees no progress.
 */
export function importText(
  { exchange, idleMs }: ClientContext,
  body: string,
  { signal, onConflict, dryRun, import: name }: CallOptions & ImportQuery,
): Promise<ImportSummary> {
  const headers = { "content-type": "application/x-ndjson" };
  const outgoing: Outgoing = {
    method: "POST",
    path: `/plants/import${queryText({ onConflict, dryRun, import: name })}`,
    headers,
    body,
    isRepeatable: true,
    signal,
  };
  return exchange(outgoing, startLimit(idleMs + body.length / BYTES_PER_MS_MIN), readImportSummary);
}

export function exportCalls(context: ClientContext): Pick<Client, "exportPlants" | "exportedPlants"> {
  return {
    exportPlants: ({ signal, ...query } = {}) => openExport(context, query, signal),
    exportedPlants({ signal, ...filter } = {}) {
      let file: ExportedFile | undefined;
      return {
        async *[Symbol.asyncIterator]() {
          file = await openExport(context, { ...filter, format: "ndjson" }, signal);
          yield* readPlants(file);
        },
        get changesCursor() {
          // Undefined as `after` would begin too late, and no one would notice.
          if (!file) throw new Error("The export has not begun: read its changesCursor after the loop.");
          if (file.changesCursor === undefined)
            throw new Error(
              "The service gave the export no changesCursor: it keeps no changes, or was too busy for one; then repeat the export.",
            );
          return file.changesCursor;
        },
      };
    },
  };
}

/** The service finds out what it is. */
const ANY = "application/octet-stream";

/**
 * Ignores the type of a Blob: where a spreadsheet program is installed, CSV gets that program's type. A stream is never
 * read in advance.
 */
async function formatOf(source: ImportSource): Promise<FileFormat | "any" | "list"> {
  if (typeof source === "string") return detectFormat(undefined, new TextEncoder().encode(source.slice(0, HEAD_BYTES)));
  if (!(source instanceof Uint8Array || source instanceof Blob)) return "ndjson";
  const name = "name" in source && typeof source.name === "string" ? source.name : undefined;
  const head = source instanceof Blob ? new Uint8Array(await source.slice(0, HEAD_BYTES).arrayBuffer()) : source;
  return isZip(head) ? "any" : detectFormat(name, head);
}

/** Workbooks and archives are ZIP files (APPNOTE 6.3.10, 4.3.7). */
function isZip([first, second, third, fourth]: Uint8Array): boolean {
  return first === 0x50 && second === 0x4b && third === 3 && fourth === 4;
}

/** Whether a file is packed, by its first bytes (RFC 1952, 2.3.1): then it is sent as it is. */
async function isGzip(source: ImportSource): Promise<boolean> {
  if (!(source instanceof Uint8Array || source instanceof Blob)) return false;
  const head = source instanceof Blob ? new Uint8Array(await source.slice(0, 2).arrayBuffer()) : source;
  return head[0] === 0x1f && head[1] === 0x8b;
}

function readImportSummary(response: Response): Promise<ImportSummary> {
  return readResponse(response, { isRepeatable: true, parse: ({ body }) => parseImportSummary(body) });
}

/** Resolves once the first byte can be read. Failures are retried only until then. */
function openExport({ exchange, policy, idleMs }: ClientContext, query: Query, signal: AbortSignal | undefined): Promise<ExportedFile> {
  const path = `/plants/export${queryText(query)}`;
  const outgoing: Outgoing = { method: "GET", path, isRepeatable: true, signal };
  return withRetries(
    policy,
    (limitMs) => {
      const limit = startLimit(limitMs);
      return exchange(outgoing, limit, async (response) => {
        const format = FORMATS.get((response.headers.get("content-type") ?? "").split(";")[0]!.trim());
        if (!response.ok || !format) return readResponse(response, { isRepeatable: true, parse: refuse });
        const body = response.body ?? new Blob([]).stream();
        const lastId = response.headers.get("x-last-id");
        const end = lastId === null ? undefined : createFileEnd(format, lastId);
        const bytes = watchBytes(body, { limit, idleMs, end, toFailure: (cause) => toFailure(cause, outgoing, limit) });
        return Object.assign(bytes, { changesCursor: response.headers.get("x-changes-cursor") ?? undefined });
      });
    },
    signal,
  );
}

/** By the media type of an export. */
const FORMATS: ReadonlyMap<string, FileFormat> = new Map([
  ["application/x-ndjson", "ndjson"],
  ["text/csv", "csv"],
]);

function refuse(): never {
  throw new TypeError("neither NDJSON nor CSV");
}
