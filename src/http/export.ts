import type { Who } from "../auth/audit.ts";
import { PlantStoreError } from "../domain/errors.ts";
import type { Log } from "../runtime/log.ts";
import { toFilter } from "../domain/plant-filter.ts";
import { ownerOf } from "../auth/principal.ts";
import type { Owner } from "../runtime/fair-shares.ts";
import type { History } from "../store/history.ts";
import { withSeenOf } from "../store/log-cursor.ts";
import { exportPlants, findLastId, toExportForm } from "../files/export.ts";
import { chooseType } from "./accept.ts";
import { choosePacking, packTexts } from "./representation.ts";
import type { Handlers } from "./router.ts";
import { accessCheck, IDLE_SECONDS, outcomeOf } from "./transfer.ts";
import type { TransferOptions } from "./transfer.ts";
import type { Fields } from "./wire/fields.ts";

type ExportOptions = TransferOptions & Readonly<{ history: Pick<History, "newest" | "read">; log: Log }>;

const NDJSON = "application/x-ndjson";
const CSV = "text/csv; charset=utf-8; header=present";

export function exportHandlers(options: ExportOptions): Pick<Handlers, "exportPlants"> {
  const { running, authenticator, log } = options;
  return {
    async exportPlants(call) {
      const { headers, principal, connection } = call;
      const { format, profile, guardFormulas } = call.parameters;
      // nginx as it comes would pass half a file on as a whole one when this process is killed.
      if (connection.isHttp10) throw new PlantStoreError("upgrade_required", { headers: { upgrade: "HTTP/1.1" } });
      const terms = toFilter(call.parameters);
      const form = toExportForm(format ?? acceptedFormat(headers), { profile, guardFormulas });
      const release = running.take(ownerOf(principal));
      if (!release) throw new PlantStoreError("overloaded");
      // Before responding: an export that cannot start gets a 503, but once started it can only break off.
      const taking = takeSnapshot(options, ownerOf(principal));
      const { cursor, snapshot } = await taking.catch((reason: unknown) => {
        release();
        throw reason;
      });
      const end = ending(options, call, () => {
        snapshot.close();
        release();
      });
      const lastId = await findLastId(snapshot, terms).catch((reason: unknown) => {
        end(outcomeOf(reason), 0);
        throw reason;
      });
      connection.allowSilence(IDLE_SECONDS);
      const texts = exporting(exportPlants(snapshot, { form, terms }), accessCheck(authenticator, call));
      const coding = choosePacking(headers);
      return {
        status: 200,
        body: toStream(coding === "identity" ? texts : packTexts(texts, coding), { log, onEnd: end }),
        headers: {
          "content-type": form.format === "csv" ? CSV : NDJSON,
          ...(coding === "identity" ? {} : { "content-encoding": coding }),
          "cache-control": "no-store",
          vary: "Accept, Accept-Encoding",
          "content-disposition": `attachment; filename="plants.${form.format}"`,
          ...(cursor === undefined ? {} : { "x-changes-cursor": cursor }),
          ...(lastId === undefined ? {} : { "x-last-id": String(lastId) }),
        },
      };
    },
  };
}

/**
 * The cursor comes first: what changes between the two is in the file, and told again behind the cursor. It goes with what
 * the snapshot has seen. Undefined if no changes are kept, or they cannot be read now: an export does not need it.
 */
async function takeSnapshot({ history, plantsFor }: ExportOptions, owner: Owner) {
  const orNone = (reason: unknown) => {
    if (reason instanceof PlantStoreError && (reason.status === 501 || reason.code === "overloaded")) return undefined;
    throw reason;
  };
  const cursor = await history.newest().catch(orNone);
  const snapshot = await plantsFor(owner).snapshot();
  if (cursor === undefined) return { cursor, snapshot };
  try {
    const seen = await history.read({ after: cursor, limit: 1, tag: undefined }).catch(orNone);
    return { cursor: seen && withSeenOf(cursor, seen.cursor), snapshot };
  } catch (reason) {
    snapshot.close();
    throw reason;
  }
}

async function* exporting(pieces: AsyncIterable<string>, confirm: () => Promise<void>): AsyncGenerator<string, void, void> {
  for await (const piece of pieces) {
    await confirm();
    yield piece;
  }
}

/** Returns a function that ends an export and logs it. Only the first call counts. */
function ending(
  { audit, now }: Pick<TransferOptions, "audit" | "now">,
  who: Who,
  release: () => void,
): (outcome: string, bytes: number) => void {
  const started = now();
  let isOver = false;
  return (outcome, bytes) => {
    if (isOver) return;
    isOver = true;
    release();
    audit.note("export_ended", who, { outcome, bytes, ms: Math.round(now() - started) });
  };
}

/** Undefined if the profile may decide. */
function acceptedFormat(headers: Fields): "csv" | undefined {
  return chooseType(headers.get("accept"), [NDJSON, CSV]) === CSV ? "csv" : undefined;
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
      // The snapshot is closed under the page that was being read. No one waits for it.
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
