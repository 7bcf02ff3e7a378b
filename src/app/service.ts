import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findUnfit } from "../runtime/file-system.ts";
import { FLOODS_MS } from "../runtime/flood-log.ts";
import { createFairShares } from "../runtime/fair-shares.ts";
import { createAudit } from "../auth/audit.ts";
import type { Audit } from "../auth/audit.ts";
import { openFirstToken } from "../auth/first-token.ts";
import type { FirstToken } from "../auth/first-token.ts";
import { createUsage } from "../auth/usage.ts";
import type { Usage } from "../auth/usage.ts";
import { BULKS_MAX, EXPORTS_MAX, IMPORTS_MAX } from "./concurrency.ts";
import type { Config } from "./config.ts";
import { loadContract } from "../domain/contract.ts";
import type { Contract } from "../domain/contract.ts";
import { findExposed, firstTokenFile } from "../runtime/data-folder.ts";
import { createMetricsApp } from "../http/metrics.ts";
import { createRateLimits } from "../http/rate-limits.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import { HttpServer } from "../http/server.ts";
import { loadStatic } from "../http/static.ts";
import type { Log } from "../runtime/log.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { addProcessMetrics } from "../runtime/process-metrics.ts";
import { createServiceApp } from "./service-app.ts";
import { addServiceMetrics } from "./service-metrics.ts";
import { createRate } from "../runtime/leaky-bucket.ts";
import { openStore } from "./open-store.ts";
import type { StoreOptions } from "./open-store.ts";
import type { Store } from "../store/store.ts";
import type { Tracing } from "../tracing/tracing.ts";

type StartOptions = Pick<StoreOptions, "log" | "metrics" | "onFatal"> &
  Readonly<{
    /** A socket that listens already. The default is to make one. */
    socketFd?: number | undefined;
    /** The folder of the built pages. The default is the project's own. */
    web?: string;
  }>;

export type Running = Awaited<ReturnType<typeof start>>;

const WEB = fileURLToPath(new URL("../../dist/web", import.meta.url));

/** How often to store when tokens were last used, and how long a stop waits for that. */
const MINUTE_MS = 60_000;
const USAGE_STOP_MS_MAX = 300;

/** Builds and starts the whole service. `stop` closes everything that it opens. */
export async function start(config: Config, options: StartOptions) {
  const opened = new AsyncDisposableStack();
  try {
    return await open(config, options, opened);
  } catch (reason) {
    await opened.disposeAsync();
    throw reason;
  }
}

/** Each part stands above those that need it. `opened`: what closes each of them, which is called from the last to the first. */
async function open(config: Config, options: StartOptions, opened: AsyncDisposableStack) {
  const { metrics, onFatal, socketFd, web = WEB } = options;
  const contract = loadContract();
  const files = loadStatic(web);
  const tracing = await loadTracing(config, contract, options);
  opened.defer(() => tracing?.stop());
  const { log } = tracing ?? options;
  const untraced = await openStore(config, { isServing: true, isNew: true, log, metrics, tracer: tracing?.commits, onFatal });
  opened.defer(() => untraced.close());
  const store = tracing ? withTraces(untraced, tracing) : untraced;
  warnOfFolder(config, log);
  const metricsServer = config.metrics && startMetricsServer(config.metrics, metrics, log);
  opened.defer(() => metricsServer?.stop(0));

  const first = await openFirstToken({ tokens: store.tokens, path: firstTokenFile(config.data), random: randomBytes, now: Date.now, log });
  const usage = createUsage(store.tokens);
  const audit = createAudit({ log, changes: config.logChanges });
  const limits = createRateLimits({ ...ratesOf(config), log });
  opened.defer(startFlushing({ first, usage, audit, limits }));

  const running = { import: createFairShares(IMPORTS_MAX), export: createFairShares(EXPORTS_MAX), bulk: createFairShares(BULKS_MAX) };
  let isDraining = false;
  const shared = { first, usage, audit, limits, running, metrics, log, tracer: tracing?.requests };
  const { app, streams } = createServiceApp({ config, contract, files, store, ...shared, isDraining: () => isDraining });
  const server = new HttpServer({ ...config, answer: app.answer, refuse: app.refuse, socketFd, portFlag: "--port", log });
  addServiceMetrics(metrics, { server, running, store, data: config.data });
  opened.defer(addProcessMetrics(metrics));
  opened.defer(() => server.stop(config.drainMs));
  return {
    url: server.url,
    /** Where traces are sent, if they are. */
    tracesUrl: config.traces?.url,
    /** Where metrics are served, if they are. */
    metricsUrl: metricsServer && `${metricsServer.url}/metrics`,
    store,
    /** The file of the first token; undefined once that is no longer valid. */
    tokenFile: first.file,
    /** The first token; undefined unless this start created it. */
    firstToken: first.secret,
    /** Reports unready, waits for a load balancer to notice, finishes running requests, then closes the store. */
    async stop(): Promise<void> {
      isDraining = true;
      // They would last longer than any wait.
      streams.drain();
      await sleep(config.drainDelayMs);
      await opened.disposeAsync();
    },
  };
}

function withTraces(store: Store, { traced }: Tracing): Store {
  return { ...store, plants: traced("plants", store.plants), tokens: traced("tokens", store.tokens) };
}

type Flushed = Readonly<{ first: FirstToken; usage: Usage; audit: Audit; limits: RateLimits }>;

/** Stores and logs now and then what was noted. Returns what ends that, and does it a last time. */
function startFlushing({ first, usage, audit, limits }: Flushed): () => Promise<void> {
  function flushRefused(): void {
    audit.flushRefusals();
    limits.flush();
  }
  const everyMinute = setInterval(() => {
    audit.flushChanges();
    void Promise.all([usage.flush(), first.check()]);
  }, MINUTE_MS).unref();
  const everyTenSeconds = setInterval(flushRefused, FLOODS_MS).unref();
  return async () => {
    clearInterval(everyMinute);
    clearInterval(everyTenSeconds);
    audit.flushChanges();
    flushRefused();
    await Promise.race([usage.flush(), sleep(USAGE_STOP_MS_MAX, undefined, { ref: false })]);
  };
}

/** The rate limits. Undefined means no limit. */
function ratesOf({ tokenRequestsPerMinute, addressRequestsPerMinute, refusedRequestsPerMinute }: Config) {
  const rate = (perMinute: number) => (perMinute === 0 ? undefined : createRate(perMinute, () => performance.now()));
  return { token: rate(tokenRequestsPerMinute), address: rate(addressRequestsPerMinute), refused: rate(refusedRequestsPerMinute) };
}

/** Undefined if nothing is traced: then not even the code is loaded. */
async function loadTracing(config: Config, { operations }: Contract, { metrics, log }: StartOptions): Promise<Tracing | undefined> {
  if (!config.traces) return undefined;
  const { startTracing } = await import("../tracing/tracing.ts");
  const database = config.database.kind === "sqlite" ? "sqlite" : "postgresql";
  return startTracing({ settings: config.traces, operations, database, metrics, log });
}

/**
 * Few need metrics at a time.
 *
 * @limit connections: connections for metrics
 */
const METRICS_CONNECTIONS_MAX = 32;

function startMetricsServer(address: { host: string; port: number }, metrics: Metrics, log: Log): HttpServer {
  return new HttpServer({
    ...address,
    ...createMetricsApp(metrics, log),
    portFlag: "--metrics",
    connectionsMax: METRICS_CONNECTIONS_MAX,
    log,
  });
}

/** Warns at start if other users of the machine may read or change the plants or the token. */
function warnOfFolder({ data, database }: Config, log: Log): void {
  const exposed = findExposed(data);
  if (exposed.length > 0) {
    log.warn("data_exposed", {
      paths: exposed,
      todo: "Other users of this machine may read or change these: run `chmod -R go=` on them.",
    });
  }
  const unfit = database.kind === "sqlite" ? findUnfit(data) : undefined;
  if (unfit) log.warn("data_at_risk", { path: data, ...unfit });
}
