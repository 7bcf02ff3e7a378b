import { statfsSync } from "node:fs";
import manifest from "../../package.json" with { type: "json" };
import type { FairShares } from "../runtime/fair-shares.ts";
import type { HttpServer } from "../http/server.ts";
import { findLastBackup } from "../runtime/last-backup.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { Store } from "../store/store.ts";

type Measured = Readonly<{
  server: HttpServer;
  running: Readonly<Record<"import" | "export" | "bulk", FairShares>>;
  store: Store;
  /** The data folder. */
  data: string;
}>;

/** Adds what the parts of the service know of themselves, read when someone asks. */
export function addServiceMetrics(metrics: Metrics, { server, running, store, data }: Measured): void {
  const [engine = ""] = store.name.split(" ");
  metrics.gauge({ name: "plant_store_build_info", help: "Always 1; its labels name the running version." }, () => [
    { labels: { version: manifest.version, runtime: `bun ${process.versions.bun}`, store: engine }, value: 1 },
  ]);
  metrics.gauge({ name: "plant_store_ready", help: "1 while the store takes changes, else 0." }, () => (isReady(store) ? 1 : 0));
  metrics.gauge({ name: "plant_store_servers_missing", help: "1 while some of several database servers are missing, else 0." }, () =>
    isReady(store) && store.check() !== undefined ? 1 : 0,
  );
  metrics.gauge({ name: "plant_store_connections", help: "Open connections by state: busy, or idle between two requests." }, () => {
    const { open, idle } = server.connections();
    return [
      { labels: { state: "busy" }, value: open - idle },
      { labels: { state: "idle" }, value: idle },
    ];
  });
  metrics.gauge({ name: "plant_store_connections_max", help: "How many connections may be open." }, () => server.connections().max);
  metrics.counterOf(
    { name: "plant_store_connections_turned_away_total", help: "Connections that were closed because there were too many." },
    () => server.connections().turnedAway,
  );
  metrics.gauge({ name: "plant_store_running", help: "Long requests that run now: imports, exports, and those with many changes." }, () =>
    Object.entries(running).map(([kind, shares]) => ({ labels: { kind }, value: shares.taken() })),
  );
  metrics.gauge({ name: "plant_store_disk_free_bytes", help: "Bytes that the disk of the data folder has left for the service." }, () => {
    const { bavail, bsize } = statfsSync(data);
    return bavail * bsize;
  });
  metrics.gauge(
    {
      name: "plant_store_last_backup_timestamp_seconds",
      help: "When the last backup was made that plant-store backup noted in the data folder, else 0.",
    },
    () => (findLastBackup(data) ?? 0) / 1000,
  );
}

function isReady(store: Store): boolean {
  try {
    store.check();
    return true;
  } catch {
    return false;
  }
}
