import type { Metrics } from "../runtime/metrics.ts";
import { createExporter } from "./exporter.ts";
import type { Exporter, ExporterOptions } from "./exporter.ts";
import type { Span } from "./span.ts";

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

/** Gathers spans and sends them to a collector. Never throws, and never waits for it, but when it is stopped. */
export class SpanQueue {
  readonly #counts: Record<"sent" | "dropped" | "failed", { value: number }>;
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  readonly #exportBatch: Exporter;
  #waiting: Span[] = [];
  #sending: Promise<void> | undefined;
  #gathering: ReturnType<typeof setTimeout> | undefined;

  constructor({ metrics, ...options }: SpanQueueOptions) {
    const spans = metrics.counter({
      name: "plant_store_spans_total",
      help: "Spans of traces: sent; dropped, if too many waited; failed, if the collector refused them or was away too long.",
      labels: ["outcome"],
    });
    this.#counts = { sent: spans("sent"), dropped: spans("dropped"), failed: spans("failed") };
    this.#exportBatch = createExporter({ ...options, stopping: this.#stopping.signal, stopped: this.#stopped.signal });
    metrics.gauge({ name: "plant_store_spans_waiting", help: "Spans that wait to be sent." }, () => this.#waiting.length);
  }

  readonly add = (span: Span): void => {
    if (this.#waiting.length >= QUEUE_MAX) this.#counts.dropped.value += 1;
    else this.#waiting.push(span);
    if (this.#waiting.length >= BATCH_MAX) this.#send();
    else this.#gathering ??= setTimeout(() => this.#send(), GATHER_MS).unref();
  };

  /** Sends what is left, as far as that takes no longer than STOP_MS_MAX. */
  readonly stop = async (): Promise<void> => {
    this.#stopping.abort();
    const cut = setTimeout(() => this.#stopped.abort(), STOP_MS_MAX);
    while (this.#waiting.length > 0 && !this.#stopped.signal.aborted) {
      this.#send();
      await this.#sending;
    }
    await this.#sending;
    clearTimeout(cut);
    this.#counts.dropped.value += this.#waiting.length;
    this.#waiting = [];
  };

  #send(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (this.#waiting.length > 0) this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopped.signal.aborted) {
      const batch = this.#waiting.slice(0, BATCH_MAX);
      this.#waiting = this.#waiting.slice(BATCH_MAX);
      const sent = await this.#exportBatch(batch);
      this.#counts.sent.value += sent;
      this.#counts.failed.value += batch.length - sent;
    }
  }
}
