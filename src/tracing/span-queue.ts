import type { Metrics } from "../runtime/metrics.ts";
import { createExporter } from "./exporter.ts";
import type { ExporterOptions } from "./exporter.ts";
import type { Span } from "./span.ts";

/** Gathers spans and sends them to a collector. Never throws, and never waits for it, but when it is stopped. */
export type SpanQueue = Readonly<{
  add(span: Span): void;
  /** Sends what is left, as far as that takes no longer than STOP_MS_MAX. */
  stop(): Promise<void>;
}>;

type SpanQueueOptions = Omit<ExporterOptions, "stopped" | "stopping"> & Readonly<{ metrics: Metrics }>;

/**
 * How many spans wait to be sent. A collector that is away or slow costs no more memory than these.
 *
 * @limit traces: spans that wait for the collector
 */
const QUEUE_MAX = 4096;
/** @limit traces: spans that are being sent */
const BATCH_MAX = 512;

/** How long spans wait for others, in milliseconds. */
const GATHER_MS = 1000;

const STOP_MS_MAX = 500;

export function createSpanQueue({ metrics, ...options }: SpanQueueOptions): SpanQueue {
  const spans = metrics.counter({
    name: "plant_store_spans_total",
    help: "Spans of traces: sent; dropped, if too many waited; failed, if the collector refused them or was away too long.",
    labels: ["outcome"],
  });
  const counts = { sent: spans("sent"), dropped: spans("dropped"), failed: spans("failed") };
  let waiting: Span[] = [];
  let sending: Promise<void> | undefined;
  let gathering: ReturnType<typeof setTimeout> | undefined;
  const stopping = new AbortController();
  const stopped = new AbortController();
  const exportBatch = createExporter({ ...options, stopping: stopping.signal, stopped: stopped.signal });
  metrics.gauge({ name: "plant_store_spans_waiting", help: "Spans that wait to be sent." }, () => waiting.length);

  function send(): void {
    clearTimeout(gathering);
    gathering = undefined;
    if (waiting.length > 0) sending ??= sendAll().finally(() => (sending = undefined));
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0 && !stopped.signal.aborted) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      const sent = await exportBatch(batch);
      counts.sent.value += sent;
      counts.failed.value += batch.length - sent;
    }
  }

  return {
    add(span) {
      if (waiting.length >= QUEUE_MAX) counts.dropped.value += 1;
      else waiting.push(span);
      if (waiting.length >= BATCH_MAX) send();
      else gathering ??= setTimeout(send, GATHER_MS).unref();
    },
    async stop() {
      stopping.abort();
      const cut = setTimeout(() => stopped.abort(), STOP_MS_MAX);
      while (waiting.length > 0 && !stopped.signal.aborted) {
        send();
        await sending;
      }
      await sending;
      clearTimeout(cut);
      counts.dropped.value += waiting.length;
      waiting = [];
    },
  };
}
