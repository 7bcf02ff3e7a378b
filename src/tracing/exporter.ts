import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../runtime/log.ts";
import { describeFailure } from "../runtime/system-failure.ts";
import { rejectedIn } from "./otlp.ts";
import type { Span } from "./span.ts";

/** Sends a batch of spans to a collector (OTLP/HTTP 1, as JSON), several times if it must. Resolves with how many were taken; never throws. */
export type Exporter = (batch: readonly Span[]) => Promise<number>;

export type ExporterOptions = Readonly<{
  url: string;
  headers: Readonly<Record<string, string>>;
  /** An ExportTraceServiceRequest. */
  encode: (spans: readonly Span[]) => string;
  log: Log;
  now: () => number;
  /** Ends a pause, for a last try. */
  stopping: AbortSignal;
  /** Ends a try. */
  stopped: AbortSignal;
}>;

/**
 * How long a collector may take, in milliseconds.
 *
 * @limit traces: duration of an attempt to send them
 */
const SEND_MS_MAX = 5000;

/** How often a batch is sent, and how long to wait in between: as long as the collector says, else ever longer. */
const TRIES_MAX = 5;
const BACKOFF_MS = 1000;
const PAUSE_MS_MAX = 30_000;

/** How often the log says that spans cannot be sent. */
const TROUBLE_MS = 60_000;

/** A longer response is not read. */
const RESPONSE_BYTES_MAX = 65_536;

/** The statuses after which a batch may be sent again. */
const RETRYABLE = new Set([429, 502, 503, 504]);

/** How many spans of a batch were taken; or why it failed, and after how many milliseconds to try again, if ever. */
type Outcome =
  | Readonly<{ kind: "sent"; spans: number }>
  | Readonly<{ kind: "failed"; reason: string; retryMs: number | undefined; isFinal: boolean }>;

export function createExporter({ url, headers, encode, log, now, stopping, stopped }: ExporterOptions): Exporter {
  let isInTrouble = false;
  let lastLoggedAt = -Infinity;

  async function exportBatch(batch: readonly Span[]): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      const outcome = await post(batch);
      report(outcome);
      if (outcome.kind === "sent") return outcome.spans;
      if (outcome.isFinal || tries === TRIES_MAX || stopping.aborted) return 0;
      const pauseMs = outcome.retryMs ?? BACKOFF_MS * 2 ** (tries - 1) * (0.8 + 0.4 * Math.random());
      await sleep(Math.min(pauseMs, PAUSE_MS_MAX), undefined, { ref: false, signal: stopping }).catch(() => {});
    }
  }

  async function post(batch: readonly Span[]): Promise<Outcome> {
    try {
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(SEND_MS_MAX)]);
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "accept-encoding": "identity" },
        body: encode(batch),
        redirect: "manual",
        // 64 KB may be packed from gigabytes.
        decompress: false,
        signal,
      });
      const answer = await readShort(response);
      if (response.ok) return { kind: "sent", spans: Math.max(0, batch.length - rejectedIn(answer)) };
      const retryMs = toPauseMs(response.headers.get("retry-after"));
      return { kind: "failed", reason: `The collector answered ${response.status}.`, retryMs, isFinal: !RETRYABLE.has(response.status) };
    } catch (reason) {
      return { kind: "failed", reason: describeFailure(reason), retryMs: undefined, isFinal: false };
    }
  }

  /** Logs the first failure, and the first success after it. */
  function report(outcome: Outcome): void {
    if (outcome.kind === "sent") {
      if (isInTrouble) log.info("collector_healed");
      isInTrouble = false;
    } else if (!isInTrouble && now() - lastLoggedAt >= TROUBLE_MS) {
      [isInTrouble, lastLoggedAt] = [true, now()];
      log.warn("collector_trouble", { reason: outcome.reason });
    }
  }

  return exportBatch;
}

/** Reads a response to its end, so that its connection can be used again. A long one is cut off, and counts as empty. */
async function readShort(response: Response): Promise<string> {
  const length = response.headers.get("content-length");
  if (length !== null && Number(length) <= RESPONSE_BYTES_MAX) return response.text();
  await response.body?.cancel();
  return "";
}

/** RFC 9110, 10.2.3: seconds, or a date. Undefined if there is neither. */
function toPauseMs(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
