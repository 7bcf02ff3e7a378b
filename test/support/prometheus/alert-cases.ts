/** Series by name, with values a minute apart as promtool writes them: `0+1x5` begins at 0 and adds 1 five times. */
type Series = Readonly<Record<string, string>>;

/** What breaks in the twentieth minute, and when the alert begins to fire: not a minute before. */
type AlertCase = readonly [alert: string, firesAt: number, series: Series, why?: string];

const MINUTES = 600;
const always = (value: number) => `${value}+0x${MINUTES}`;
const each = (grown: number) => `0+${grown}x${MINUTES}`;
/** One value for twenty minutes, then another. */
const turns = (before: number, after: number) => `${before}+0x19 ${after}+0x${MINUTES}`;
/** A counter that stands still for twenty minutes, then grows each minute. */
const grows = (grown: number, minutes = MINUTES) => `0+0x19 ${grown}+${grown}x${minutes - 1} ${grown * minutes}+0x${MINUTES}`;

/** A sample of the metrics of one service. */
const sample = (name: string, labels = "") => `${name}{job="plant-store",instance="a"${labels === "" ? "" : `,${labels}`}}`;

const requests = (operation: string, status: number) =>
  sample("plant_store_http_request_duration_seconds_count", `operation="${operation}",status="${status}"`);
const errors = (code: string) => sample("plant_store_http_errors_total", `code="${code}"`);
const event = (name: string, level = "error") => sample("plant_store_log_events_total", `level="${level}",event="${name}"`);
const checkpoints = (outcome: string) => sample("plant_store_sqlite_checkpoint_duration_seconds_count", `outcome="${outcome}"`);
/** A histogram of sixty fast values a minute, and from the twentieth on, if so, as many between two slow bounds. */
function histogram(name: string, { slow, labels = "" }: { slow?: readonly [above: string, within: string]; labels?: string } = {}): Series {
  const bucket = (le: string) => sample(`${name}_bucket`, `${labels === "" ? "" : `${labels},`}le="${le}"`);
  if (!slow) return { [bucket("0.001")]: each(60), [bucket("+Inf")]: each(60) };
  const all = `0+60x19 1260+120x${MINUTES}`;
  return { [bucket(slow[0])]: each(60), [bucket(slow[1])]: all, [bucket("+Inf")]: all };
}

const UP = sample("up");
const READY = sample("plant_store_ready");
const MISSING = sample("plant_store_servers_missing");
const STARTED = sample("process_start_time_seconds");
const FREE = sample("plant_store_disk_free_bytes");
const WAL = sample("plant_store_sqlite_wal_bytes");
const QUEUE = sample("plant_store_queue_age_seconds");
const TURNED_AWAY = sample("plant_store_connections_turned_away_total");
const BACKUP = sample("plant_store_last_backup_timestamp_seconds");
const LAG = sample("plant_store_search_lag_seconds");
const onStore = (store: "PostgreSQL" | "SQLite") => sample("plant_store_build_info", `store="${store}"`);
/** The same of another service of the job. */
const another = (name: string) => name.replace('"a"', '"b"');

const creates = (slow?: readonly [string, string]) =>
  histogram("plant_store_http_request_duration_seconds", { labels: 'operation="createPlant",status="200"', ...(slow ? { slow } : {}) });

/** A service on SQLite that works: a create a second, a watcher that asks each second, now and then a wrong token. */
export const HEALTHY: Series = {
  [UP]: always(1),
  [READY]: always(1),
  [MISSING]: always(0),
  [STARTED]: always(-100_000),
  [FREE]: always(100e9),
  [WAL]: always(16e6),
  [QUEUE]: always(0.004),
  [TURNED_AWAY]: always(3),
  [LAG]: always(0.2),
  [BACKUP]: always(-80_000),
  [onStore("SQLite")]: always(1),
  [requests("createPlant", 200)]: each(60),
  [requests("getReadiness", 200)]: each(60),
  [errors("invalid_token")]: each(1),
  [checkpoints("done")]: each(1),
  ...Object.fromEntries(["store_trouble", "store_unfit", "unexpected_error", "wal_missing"].map((name) => [event(name), always(0)])),
  [event("log_gap", "warn")]: always(0),
  ...creates(),
  ...histogram("plant_store_sqlite_sync_duration_seconds"),
  ...histogram("plant_store_changes_lag_seconds"),
  ...histogram("plant_store_event_loop_lag_seconds"),
};

/** Two replicas on PostgreSQL, of which one has made no backup for long. */
const REPLICAS: Series = {
  [onStore("SQLite")]: "",
  [onStore("PostgreSQL")]: always(1),
  [another(onStore("PostgreSQL"))]: always(1),
  [another(BACKUP)]: always(-900_000),
};

export const CASES: readonly AlertCase[] = [
  ["PlantStoreDown", 21, { [UP]: turns(1, 0) }],
  ["PlantStoreDown", 26, { [UP]: "1+0x19" }, "nothing is scraped"],
  ["PlantStoreNotReady", 21, { [READY]: turns(1, 0) }],
  ["PlantStoreServersMissing", 25, { [MISSING]: turns(0, 1) }],
  ["PlantStoreRestarts", 22, { [STARTED]: "0+0x19 1200+60x5 1500+0x600" }],
  ["PlantStoreErrors", 25, { [requests("createPlant", 503)]: grows(30) }],
  [
    "PlantStoreErrors",
    25,
    { [requests("createPlant", 200)]: always(5), [requests("createPlant", 503)]: grows(1) },
    "few ask, and a watcher each second",
  ],
  ["PlantStoreRisk", 20, { [event("store_unfit")]: turns(0, 1) }, "once"],
  ["PlantStoreRisk", 20, { [event("wal_missing")]: `_x20 1+0x${MINUTES}`, [STARTED]: `-100000+0x19 1190+0x${MINUTES}` }, "at a start"],
  ["PlantStoreTrouble", 20, { [event("store_trouble")]: turns(0, 1) }, "store_trouble"],
  ["PlantStoreTrouble", 20, { [event("unexpected_error")]: turns(0, 1) }, "unexpected_error"],
  ["PlantStoreTrouble", 20, { [event("log_gap", "warn")]: turns(0, 1) }, "log_gap"],
  ["PlantStoreDiskAlmostFull", 25, { [FREE]: turns(100e9, 1.9e9) }],
  ["PlantStoreDiskFillsUp", 87, { [FREE]: `100e9+0x19 100e9-1e8x${MINUTES}` }],
  ["PlantStoreSlowCreates", 30, creates(["0.5", "1"])],
  ["PlantStoreQueueOld", 28, { [QUEUE]: turns(0.004, 0.9) }],
  ["PlantStoreOverloaded", 26, { [errors("overloaded")]: grows(5) }],
  ["PlantStoreConnectionsFull", 25, { [TURNED_AWAY]: grows(2) }],
  ["PlantStoreTokensRefused", 32, { [errors("invalid_token")]: grows(30) }],
  ["PlantStoreSlowSync", 30, histogram("plant_store_sqlite_sync_duration_seconds", { slow: ["0.1", "0.25"] })],
  [
    "PlantStoreCheckpointsBlocked",
    44,
    {
      [checkpoints("done")]: `0+1x19 19+0x${MINUTES}`,
      [checkpoints("blocked")]: grows(100),
      [WAL]: `16e6+0x19 16e6+1e6x${MINUTES}`,
    },
  ],
  ["PlantStoreCheckpointsFail", 25, { [checkpoints("failed")]: grows(100) }],
  ["PlantStoreSearchBehind", 25, { [LAG]: turns(0.2, 61) }],
  ["PlantStoreChangesLate", 30, histogram("plant_store_changes_lag_seconds", { slow: ["2.5", "10"] })],
  // Time begins at 0 here, so it was made two days less twenty minutes before.
  ["PlantStoreBackupOld", 21, { [BACKUP]: always(-171_600) }],
  ["PlantStoreBackupOld", 20, { [BACKUP]: turns(-3600, 1_000_000) }, "a clock that was wrong made one in the future"],
  [
    "PlantStoreBackupOld",
    21,
    { [another(BACKUP)]: always(-171_600), [another(onStore("SQLite"))]: always(1) },
    "another store of the job was backed up since",
  ],
  ["PlantStoreBackupOld", 21, { ...REPLICAS, [BACKUP]: always(-171_600) }, "no replica has backed up since"],
  ["PlantStoreEventLoopLate", 30, histogram("plant_store_event_loop_lag_seconds", { slow: ["0.25", "0.5"] })],
];

/** What must wake no one. */
export const HARMLESS: ReadonlyArray<Readonly<{ why: string; series: Series }>> = [
  { why: "a service that works", series: {} },
  { why: "a service on PostgreSQL, whose plants need no disk here", series: { [FREE]: turns(100e9, 1e9), [WAL]: "" } },
  { why: "a replica without the timer", series: REPLICAS },
  { why: "one scrape that fails", series: { [UP]: `1+0x19 0 1+0x${MINUTES}` } },
  { why: "an update: two restarts", series: { [STARTED]: "0+0x19 1200+60x1 1260+0x600" } },
  { why: "one failed request", series: { [requests("createPlant", 503)]: grows(1, 1), [requests("createPlant", 200)]: always(0) } },
  { why: "a watcher that hears for long that a replica stops", series: { [requests("getReadiness", 503)]: grows(60) } },
  { why: "two failed requests of a hundred", series: { [requests("createPlant", 500)]: grows(1) } },
  {
    why: "an export, which blocks checkpoints for a quarter of an hour",
    series: { [checkpoints("done")]: `0+1x19 19+0x14 20+1x${MINUTES}`, [checkpoints("blocked")]: grows(100, 14) },
  },
  { why: "one checkpoint that fails", series: { [checkpoints("failed")]: grows(1, 1) } },
  { why: "a connection that was turned away", series: { [TURNED_AWAY]: grows(1, 1) } },
  { why: "an import for which the index is behind for four minutes", series: { [LAG]: `0+0x19 90+0x3 0+0x${MINUTES}` } },
  {
    why: "an old event that was there when the metrics were not read for a while",
    series: { [event("wal_missing")]: `1+0x9 _x20 1+0x${MINUTES}` },
  },
];
