import { SECONDS } from "../../runtime/metrics.ts";
import type { Metrics } from "../../runtime/metrics.ts";
import { createCommitMeter } from "../commit-meter.ts";
import type { CommitTracer } from "../../tracing/commit-tracer.ts";
import { sizeOfFile } from "./engine/files.ts";
import type { Reader } from "./engine/reader.ts";
import type { Follower } from "./search/follower.ts";

export type SqliteMeter = ReturnType<typeof createSqliteMeter>;

/** What the store measures about itself. */
export function createSqliteMeter(metrics: Metrics, tracer: CommitTracer | undefined) {
  return {
    commits: createCommitMeter(metrics, tracer),
    syncs: metrics.histogram({
      name: "plant_store_sqlite_sync_duration_seconds",
      help: "The end of a commit: writing the WAL and syncing it to the disk.",
      bounds: SECONDS,
    })(),
    checkpoints: metrics.histogram({
      name: "plant_store_sqlite_checkpoint_duration_seconds",
      help: "Checkpoints by outcome: done; blocked, if a reader such as an export kept it from the end of the WAL; failed.",
      labels: ["outcome"],
      bounds: SECONDS,
    }),
  };
}

type Measured = Readonly<{ path: string; reader: Reader; index: Pick<Follower, "lagMs"> | undefined }>;

/** Adds what is looked up only when someone asks. */
export function addSqliteGauges(metrics: Metrics, { path, reader, index }: Measured): void {
  metrics.gauge({ name: "plant_store_plants", help: "Plants in the store." }, reader.plants.count);
  metrics.gauge({ name: "plant_store_schema_version", help: "Version of the tables." }, reader.schemaVersion);
  metrics.gauge({ name: "plant_store_bytes", help: "Bytes of the database, without the WAL and the search index." }, () =>
    sizeOfFile(path),
  );
  metrics.gauge({ name: "plant_store_sqlite_wal_bytes", help: "Bytes of the file of the write-ahead log (WAL)." }, () =>
    sizeOfFile(`${path}-wal`),
  );
  metrics.gauge(
    { name: "plant_store_changes_oldest_timestamp_seconds", help: "When the oldest change was made that is kept." },
    () => reader.log.kept().since / 1_000_000,
  );
  metrics.gauge(
    { name: "plant_store_sqlite_changes_rows", help: "Rows of changes that are kept, of up to twenty changes each." },
    () => reader.log.kept().rows,
  );
  if (index)
    metrics.gauge(
      { name: "plant_store_search_lag_seconds", help: "How long the search index has been behind the commits." },
      () => index.lagMs() / 1000,
    );
}
