import { SECONDS } from "../../runtime/metrics.ts";
import type { Metrics } from "../../runtime/metrics.ts";
import type { End } from "./listener.ts";

export type FeedMeter = ReturnType<typeof createFeedMeter>;

/** Measures the streams of changes. */
export function createFeedMeter(metrics: Metrics, listeners: () => number) {
  metrics.gauge({ name: "plant_store_changes_listeners", help: "Open streams of changes." }, listeners);
  const events = metrics.counter({
    name: "plant_store_changes_sent_total",
    help: "Changes that were written to streams, one for each stream.",
  })();
  const blocks = metrics.counter({
    name: "plant_store_changes_writes_total",
    help: "Writes of changes to streams: several changes at a time.",
  })();
  const ends = metrics.counter({
    name: "plant_store_changes_streams_ended_total",
    help: "Streams of changes that ended, by reason: gone (the reader left), slow or memory (it did not read), token, store, or drain.",
    labels: ["reason"],
  });
  const lag = metrics.histogram({
    name: "plant_store_changes_lag_seconds",
    help: "From the oldest change of a turn to its write to the last stream that is live.",
    bounds: SECONDS,
  })();
  return {
    sent(count: number): void {
      events.value += count;
      blocks.value += 1;
    },
    ended(reason: End): void {
      ends(reason).value += 1;
    },
    lagged: (seconds: number) => lag.observe(Math.max(0, seconds)),
  };
}
