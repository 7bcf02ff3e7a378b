import { invalidQuery, PlantStoreError } from "../domain/errors.ts";
import { createSharedPauses } from "../runtime/event-loop.ts";
import type { Pauses } from "../runtime/event-loop.ts";
import type { NewPlant } from "../domain/plant.ts";
import { ownerOf } from "../auth/principal.ts";
import { gunzip } from "../files/gunzip.ts";
import { importFile } from "../files/import.ts";
import type { ImportCounts } from "../files/import.ts";
import { withAccessCheck, withIdleTimeout } from "./upload.ts";
import type { CsvOptions } from "../files/csv-options.ts";
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
      const csv = parseCsvOptions(call);
      // There is room: admission has just checked, and nothing can run in between.
      const release = running.take(ownerOf(principal));
      if (!release) throw new PlantStoreError("overloaded");
      // ARRIVAL_LIMITS sets the limits on silence instead.
      connection.allowSilence(0);
      const { type, bytes, isPacked } = body;
      const started = now();
      let counts: Partial<ImportCounts> = {};
      let outcome = "done";
      try {
        const coming = withAccessCheck(withIdleTimeout(bytes, ARRIVAL_LIMITS), accessCheck(authenticator, call));
        const file = { format: type === "text/csv" ? "csv" : "ndjson", bytes: isPacked ? gunzip(coming) : coming } as const;
        const summary = await importFile(plantsFor(ownerOf(principal)), file, {
          csv,
          parsePlant,
          lineBytesMax,
          pauses: whileConnected(openPauses(), connection),
          isReplacing: onConflict === "replace",
          isDryRun: dryRun,
          onCommit: (all) => (counts = all),
        });
        return { status: 200, body: JSON.stringify(summary) };
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

/** The same pauses while the sender is connected. After that the rest of the file is not waited for. */
function whileConnected(pauses: Pauses, { isGone }: Call<"importPlants">["connection"]): Pauses {
  return async (isOver) => {
    await pauses(isOver);
    if (isGone()) throw new PlantStoreError("incomplete_body");
  };
}

/** Throws `invalid_query` if its parameters contradict each other, or the format. */
function parseCsvOptions({ body, headers, parameters }: Call<"importPlants">): CsvOptions {
  const { header, guess, encoding, idColumn, nameColumn, tagColumn, ids, firstId, dropEmptyTags } = parameters;
  if (ids === "content" && firstId !== undefined)
    throw invalidQuery("Ids either follow from the content or are numbered: send only one of `ids` and `firstId`.");
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
    throw invalidQuery("The query has parameters for columns, ids or encoding, which only CSV has: send them with CSV only.");
  return {
    hasHeader: header === "present" && !HEADER_ABSENT.test(headers.get("content-type") ?? ""),
    columns,
    ids: firstId === undefined ? { kind: ids } : { kind: "from", first: firstId },
    encoding: encoding ?? (guess ? undefined : "utf-8"),
    guess,
    dropEmptyTags,
  };
}
