import type { Schemas } from "../../contract/generated/schemas.ts";
import type { Audit, Who } from "../auth/audit.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { ownerOf } from "../principal.ts";
import type { Principal } from "../principal.ts";
import { PlantStoreError } from "../errors.ts";
import { exportPlants, findLastId, toExportForm } from "../transfer/export.ts";
import { gunzip } from "../transfer/gunzip.ts";
import { importFile } from "../transfer/import.ts";
import type { ImportCounts } from "../transfer/import.ts";
import { whileAllowed, whileMoving } from "../transfer/row.ts";
import type { CsvReading } from "../transfer/row.ts";
import type { Log } from "../log.ts";
import type { NewPlant } from "../plant.ts";
import { createSharedPauses } from "../event-loop.ts";
import type { FairShares } from "../fair-shares.ts";
import type { PlantStore } from "../store/plants.ts";
import { queued } from "../store/fair-queue.ts";
import type { FairQueue } from "../store/fair-queue.ts";
import { toFilter } from "../plant-filter.ts";
import { chooseType } from "./accept.ts";
import { choosePacking, packTexts } from "./representation.ts";
import type { Call, Handlers } from "./router.ts";
import type { Fields } from "./wire/fields.ts";

type TransferOptions = Readonly<{
  plants: PlantStore;
  queue: FairQueue;
  /** The running imports. A token gets only its share of them, because each holds some plants in memory. */
  imports: FairShares;
  /** The running exports. A token gets only its share, because each keeps a snapshot, on PostgreSQL with a connection. */
  exports: FairShares;
  parsePlant: (value: unknown) => NewPlant;
  /** Longest line of an import. */
  lineBytesMax: number;
  /** Checks the token repeatedly during a transfer: it may be revoked, or expire. */
  authenticator: Authenticator;
  audit: Audit;
  log: Log;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}>;

const NDJSON = "application/x-ndjson";
const CSV = "text/csv; charset=utf-8; header=present";

/** What a sender may say of CSV in its media type, too (RFC 4180, 3). */
const HEADER_ABSENT = /;\s*header\s*=\s*"?absent"?\s*(?:;|$)/i;

/** How long a sender may send nothing, or a reader read nothing. */
const IDLE_SECONDS = 60;

/** A slow import takes up a slot that others need, so after a grace period it must be as fast as the slowest modems. */
const GRACE_SECONDS = 30;
const PATIENCE = { idleMs: IDLE_SECONDS * 1000, graceMs: GRACE_SECONDS * 1000, bytesPerSecondMin: 500 };

/** Import and export of the whole catalogue as a file. */
export function transferHandlers(options: TransferOptions): Pick<Handlers, "importPlants" | "exportPlants"> {
  const { plants, queue, imports, exports, parsePlant, lineBytesMax, authenticator, audit, log, now } = options;
  const openPauses = createSharedPauses(now);

  /** A running transfer is never refused a turn in the queue: there are only a few at a time. */
  function patient(principal: Principal): ReturnType<typeof queued> {
    return queued(plants, queue, { owner: ownerOf(principal), isPatient: true });
  }

  function confirming(headers: Fields, { token }: Principal): () => Promise<void> {
    const authorization = headers.get("authorization");
    return () => (token ? authenticator.confirm(authorization, token) : Promise.resolve());
  }

  async function* exporting(pieces: AsyncIterable<string>, confirm: () => Promise<void>): AsyncGenerator<string, void, void> {
    for await (const piece of pieces) {
      await confirm();
      yield piece;
    }
  }

  /** Returns a function that ends an export and logs it. Only the first call counts. */
  function ending(who: Who, release: () => void): (outcome: string, bytes: number) => void {
    const started = now();
    let isOver = false;
    return (outcome, bytes) => {
      if (isOver) return;
      isOver = true;
      release();
      audit.note("export_ended", who, { outcome, bytes, ms: Math.round(now() - started) });
    };
  }

  return {
    async importPlants(call) {
      const { body, headers, principal, connection } = call;
      const { onConflict, dryRun } = call.parameters;
      const csv = toReading(call);
      // There is room: admission has just checked, and nothing can run in between.
      const release = imports.take(ownerOf(principal));
      if (!release) throw new PlantStoreError("overloaded");
      // PATIENCE sets the limits on silence instead.
      connection.allowSilence(0);
      const { type, bytes, isPacked } = body;
      const started = now();
      let counts: Partial<ImportCounts> = {};
      let outcome = "done";
      try {
        const coming = whileAllowed(whileMoving(bytes, PATIENCE), confirming(headers, principal));
        const summary = await importFile(patient(principal), isPacked ? gunzip(coming) : coming, {
          format: type === "text/csv" ? "csv" : "ndjson",
          csv,
          parsePlant,
          lineBytesMax,
          pauses: openPauses(),
          isReplacing: onConflict === "replace",
          isDryRun: dryRun,
          onCommit: (all) => (counts = all),
        });
        return { status: 200, body: JSON.stringify(summary satisfies Schemas["ImportSummary"]) };
      } catch (reason) {
        outcome = outcomeOf(reason);
        throw reason;
      } finally {
        release();
        audit.note("import_ended", call, { outcome, ...counts, dryRun, ms: Math.round(now() - started) });
      }
    },
    async exportPlants(call) {
      const { headers, principal, connection } = call;
      const { format, profile, guardFormulas } = call.parameters;
      // nginx as it comes would pass half a file on as a whole one when this process is killed.
      if (connection.isHttp10) throw new PlantStoreError("upgrade_required", { headers: { upgrade: "HTTP/1.1" } });
      const terms = toFilter(call.parameters);
      const form = toExportForm(format ?? acceptedFormat(headers), { profile, guardFormulas });
      const release = exports.take(ownerOf(principal));
      if (!release) throw new PlantStoreError("overloaded");
      // Before responding: an export that cannot start gets a 503, but once started it can only break off.
      const snapshot = await patient(principal)
        .snapshot()
        .catch((reason: unknown) => {
          release();
          throw reason;
        });
      const end = ending(call, () => {
        snapshot.close();
        release();
      });
      const lastId = await findLastId(snapshot, terms).catch((reason: unknown) => {
        end(outcomeOf(reason), 0);
        throw reason;
      });
      connection.allowSilence(IDLE_SECONDS);
      const texts = exporting(exportPlants(snapshot, { form, terms }), confirming(headers, principal));
      const coding = choosePacking(headers);
      return {
        status: 200,
        body: toStream(coding === "identity" ? texts : packTexts(texts, coding), { log, onEnd: end }),
        headers: {
          "content-type": form.format === "csv" ? CSV : NDJSON,
          ...(coding === "identity" ? {} : { "content-encoding": coding }),
          vary: "Accept, Accept-Encoding",
          "content-disposition": `attachment; filename="plants.${form.format}"`,
          ...(lastId === undefined ? {} : { "x-last-id": String(lastId) }),
        },
      };
    },
  };
}

/** Throws `invalid_query` if its parameters contradict each other, or the format. */
function toReading({ body, headers, parameters }: Call<"importPlants">): CsvReading {
  const { header, guess, encoding, idColumn, nameColumn, tagColumn, ids, firstId, dropEmptyTags } = parameters;
  if (ids === "content" && firstId !== undefined)
    throw refused("Ids either follow from the content or are numbered: send only one of `ids` and `firstId`.");
  const columns = Object.fromEntries(
    Object.entries({ id: idColumn, name: nameColumn, tag: tagColumn }).filter(([, name]) => name !== undefined),
  );
  const isPlain =
    header === "present" &&
    !guess &&
    !dropEmptyTags &&
    encoding === undefined &&
    ids === "file" &&
    firstId === undefined &&
    Object.keys(columns).length === 0;
  if (body.type !== "text/csv" && !isPlain)
    throw refused("The query speaks of columns, ids or encoding, which only CSV has: send it with CSV only.");
  return {
    hasHeader: header === "present" && !HEADER_ABSENT.test(headers.get("content-type") ?? ""),
    columns,
    ids: firstId === undefined ? { kind: ids } : { kind: "from", first: firstId },
    encoding: encoding ?? (guess ? undefined : "utf-8"),
    isGuessing: guess,
    isEmptyTagNone: dropEmptyTags,
  };
}

function refused(message: string): PlantStoreError {
  return new PlantStoreError("invalid_query", { message });
}

/** Undefined if the profile may decide. */
function acceptedFormat(headers: Fields): "csv" | undefined {
  return chooseType(headers.get("accept"), [NDJSON, CSV]) === CSV ? "csv" : undefined;
}

/** The name of an error; "incomplete_body" if the connection broke off. */
function outcomeOf(reason: unknown): string {
  if (reason instanceof PlantStoreError) return reason.code;
  return reason instanceof DOMException && reason.name === "AbortError" ? "incomplete_body" : "failed";
}

/** `onEnd` is called once nothing more will be read, with the outcome and the number of bytes produced. */
type StreamOptions = Readonly<{ log: Log; onEnd: (outcome: string, bytes: number) => void }>;

/**
 * A stream that produces each piece only once the reader has taken the one before. The server closes the connection of
 * a reader that takes nothing.
 */
function toStream(pieces: AsyncGenerator<string | Uint8Array, void, void>, { log, onEnd }: StreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let bytes = 0;
  let isCancelled = false;

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const { done, value } = await pieces.next();
      if (isCancelled) return;
      if (!done) {
        const piece = typeof value === "string" ? encoder.encode(value) : value;
        bytes += piece.byteLength;
        return controller.enqueue(piece);
      }
      onEnd("done", bytes);
      controller.close();
    } catch (reason) {
      // The snapshot is closed under the page that was being read. Nobody waits for it.
      if (isCancelled) return;
      onEnd(outcomeOf(reason), bytes);
      // An export that a revocation breaks off has not failed.
      if (!(reason instanceof PlantStoreError && reason.code === "invalid_token")) log.error("export_failed", { reason });
      throw reason;
    }
  }

  async function cancel(): Promise<void> {
    isCancelled = true;
    onEnd("cancelled", bytes);
    await pieces.return();
  }

  // Never read ahead: a HEAD reads nothing at all.
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}
