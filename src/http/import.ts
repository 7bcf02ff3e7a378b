import { hash, randomUUID } from "node:crypto";
import { invalidQuery, PlantStoreError } from "../domain/errors.ts";
import { createSharedPauses } from "../runtime/event-loop.ts";
import type { Pauses } from "../runtime/event-loop.ts";
import type { NewPlant } from "../domain/plant.ts";
import { ownerOf } from "../auth/principal.ts";
import type { Bytes } from "../files/bytes.ts";
import { gunzip } from "../files/gunzip.ts";
import { importFile } from "../files/import.ts";
import type { ImportCounts } from "../files/import.ts";
import { openFile } from "../files/open-file.ts";
import type { FileSource } from "../files/read-file.ts";
import type { Pause } from "../files/zip.ts";
import { parseReading, TWO_SOURCES } from "../files/reading/reading-json.ts";
import type { Asked, Ids } from "../files/reading/reading.ts";
import type { ReadOptions } from "../files/row.ts";
import { toJson } from "../domain/json.ts";
import { readPieces } from "./request-body.ts";
import { withAccessCheck, withIdleTimeout } from "./upload.ts";
import type { Call, Handlers } from "./router.ts";
import { accessCheck, IDLE_SECONDS, outcomeOf } from "./transfer.ts";
import type { TransferOptions } from "./transfer.ts";

type ImportOptions = TransferOptions &
  Readonly<{
    parsePlant: (value: unknown) => NewPlant;
    /** Longest line of an import. */
    lineBytesMax: number;
  }>;

/** What a sender may say of CSV in its media type, too (RFC 4180, 3). */
const HEADER_ABSENT = /;\s*header\s*=\s*"?absent"?\s*(?:;|$)/i;

/**
 * A slow import takes up a slot that others need, so after a grace period it must be as fast as the slowest modems.
 *
 * @limit files: time that the service waits for an import before its rate counts
 */
const GRACE_SECONDS = 30;
const ARRIVAL_LIMITS = {
  idleMs: IDLE_SECONDS * 1000,
  graceMs: GRACE_SECONDS * 1000,
  /** @limit files: bytes a second that an import must send */
  bytesPerSecondMin: 500,
};

export function importHandlers(options: ImportOptions): Pick<Handlers, "importPlants"> {
  const { plantsFor, running, parsePlant, lineBytesMax, authenticator, audit, now } = options;
  const openPauses = createSharedPauses(now);
  return {
    async importPlants(call) {
      const { body, principal, connection } = call;
      const { onConflict, dryRun } = call.parameters;
      const id = toImportId(ownerOf(principal), call.parameters.import);
      const table = parseTable(call);
      // There is room: admission has just checked, and nothing can run in between.
      const release = running.take(ownerOf(principal));
      if (!release) throw new PlantStoreError("overloaded");
      // ARRIVAL_LIMITS sets the limits on silence instead.
      connection.allowSilence(0);
      const { bytes, isPacked } = body;
      const pauses = whileConnected(openPauses(), connection);
      const started = now();
      let counts: Partial<ImportCounts> = {};
      let outcome = "done";
      try {
        const coming = withAccessCheck(withIdleTimeout(bytes, ARRIVAL_LIMITS), accessCheck(authenticator, call));
        const file = await openBody(call, isPacked ? gunzip(coming) : coming, () => pauses(false));
        const summary = await importFile(plantsFor(ownerOf(principal)), file, {
          table,
          parsePlant,
          lineBytesMax,
          pauses,
          isReplacing: onConflict === "replace",
          isDryRun: dryRun,
          by: ownerOf(principal),
          import: id,
          onCommit: (all) => (counts = all),
        });
        return { status: 200, body: toJson(dryRun ? summary : { ...summary, import: id }) };
      } catch (reason) {
        outcome = outcomeOf(reason);
        throw reason;
      } finally {
        release();
        audit.note("import_ended", call, { outcome, ...counts, dryRun, ms: Math.round(now() - started) });
      }
    },
  };
}

/** The public id of an import. The token is in it, so that none can add to the import of another. */
function toImportId(owner: string, given: string = randomUUID()): string {
  return hash("sha256", JSON.stringify([owner, given])).slice(0, 32);
}

/** The same pauses while the sender is connected. After that the rest of the file is not waited for. */
function whileConnected(pauses: Pauses, { isGone }: Call<"importPlants">["connection"]): Pauses {
  return async (isOver) => {
    await pauses(isOver);
    if (isGone()) throw new PlantStoreError("incomplete_body");
  };
}

/** A file of any kind. */
const ANY = "application/octet-stream";

/**
 * A workbook or an archive is read from its end, and is gathered before.
 *
 * @limit files: bytes of a workbook or an archive in an import over HTTP
 */
const WHOLE_BYTES_MAX = 32 * 1024 * 1024;

async function openBody({ body: { type }, headers }: Call<"importPlants">, bytes: Bytes, pause: Pause): Promise<FileSource> {
  if (type !== ANY) return { format: type === "text/csv" ? "csv" : "ndjson", bytes };
  const whole = async (all: Bytes) => new Blob([Buffer.from(await readPieces(headers, all, WHOLE_BYTES_MAX))]);
  return openFile({ bytes, whole, gunzip, pause });
}

/** How a table is read. Throws `invalid_query` if the parameters contradict each other, or the format. */
function parseTable({ body, headers, parameters }: Call<"importPlants">): NonNullable<ReadOptions["table"]> {
  const { reading, header, guess, encoding, idColumn, nameColumn, tagColumn, ids, firstId, dropEmptyTags } = parameters;
  const columns = [idColumn, nameColumn, tagColumn].filter((column) => column !== undefined);
  const isSaid =
    header !== "present" || encoding !== undefined || ids !== "file" || firstId !== undefined || dropEmptyTags || columns.length > 0;
  const isTable = body.type === "text/csv" || body.type === ANY;
  if (!isTable && (isSaid || guess || reading !== undefined))
    throw invalidQuery("The query has parameters for columns, ids or encoding, which only CSV has: send them with CSV only.");
  if (reading !== undefined && (isSaid || guess)) throw invalidQuery("The query specifies the reading twice: send `reading` alone.");
  if (reading !== undefined) return { asked: parseReading(reading) };
  if (ids === "content" && firstId !== undefined) throw invalidQuery(TWO_SOURCES);
  const made: Ids = firstId === undefined ? { kind: ids } : { kind: "from", first: firstId };
  const hasHeader = header === "present" && !HEADER_ABSENT.test(headers.get("content-type") ?? "");
  const chosen = { ...defined("id", idColumn), ...defined("tag", tagColumn) };
  if (body.type === ANY && !isSaid && !guess) return { asked: {} };
  if (guess || body.type === ANY) {
    const asked: Asked = { ...chosen, ...(nameColumn === undefined ? {} : { name: [nameColumn] }), ...defined("encoding", encoding) };
    return { asked: { ...asked, ...(hasHeader ? {} : { heading: 0 }), ids: made, emptyNames: true }, dropEmptyTags };
  }
  return {
    plain: { hasHeader, columns: { ...chosen, ...defined("name", nameColumn) }, ids: made, encoding: encoding ?? "utf-8", dropEmptyTags },
  };
}

function defined<Key extends string>(key: Key, value: string | undefined): Partial<Record<Key, string>> {
  return (value === undefined ? {} : { [key]: value }) as Partial<Record<Key, string>>;
}
