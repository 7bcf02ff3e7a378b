import { availableParallelism } from "node:os";
import { SECONDS } from "./metrics.ts";
import type { Metrics } from "./metrics.ts";
import { countOpenFiles, openFilesMax } from "./file-system.ts";

/** How often to look whether the event loop is late, in milliseconds. */
const LAG_EVERY_MS = 100;

/**
 * Adds what monitoring systems know of every process, under the names that Prometheus' own clients use, and how late the
 * event loop is. Returns a function that stops the measuring.
 */
export function addProcessMetrics(metrics: Metrics): () => void {
  const { uptime, cpuUsage } = process;
  const started = Date.now() / 1000 - uptime();
  metrics.counterOf({ name: "process_cpu_seconds_total", help: "Processor time of all threads, in seconds." }, () => {
    const { user, system } = cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.gauge({ name: "process_resident_memory_bytes", help: "Memory that the process has, in bytes." }, () => process.memoryUsage.rss());
  metrics.gauge({ name: "process_start_time_seconds", help: "When the process started, in seconds since 1970." }, () => started);
  metrics.gauge({ name: "process_open_fds", help: "Open files and sockets." }, countOpenFiles);
  metrics.gauge({ name: "process_max_fds", help: "How many files and sockets may be open." }, openFilesMax);
  metrics.gauge({ name: "plant_store_cpus", help: "Processors that the process may use." }, availableParallelism);
  const lags = metrics.histogram({
    name: "plant_store_event_loop_lag_seconds",
    help: "Event loop lag: how long a request may wait before it is handled.",
    bounds: SECONDS,
  })();
  let due = performance.now() + LAG_EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lags.observe(Math.max(0, now - due) / 1000);
    due = now + LAG_EVERY_MS;
  }, LAG_EVERY_MS).unref();
  return () => clearInterval(timer);
}
