import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findUnfit } from "./file-system.ts";
import { FLOODS_MS } from "./flood-log.ts";
import { createFairShares } from "./fair-shares.ts";
import { createAudit } from "./auth/audit.ts";
import { openFirstToken } from "./auth/first-token.ts";
import { createAuthenticator } from "./auth/authenticate.ts";
import { createUsage } from "./auth/usage.ts";
import type { Config } from "./config.ts";
import { loadContract } from "./contract.ts";
import type { Contract } from "./contract.ts";
import { findExposed, firstTokenFile } from "./data-folder.ts";
import { changeHandlers } from "./http/bulk-changes.ts";
import { clientAddress } from "./http/client-address.ts";
import { createApp } from "./http/app.ts";
import { createMetricsApp } from "./http/metrics.ts";
import { openapiHandlers } from "./http/openapi.ts";
import { createRequestMeter } from "./http/request-meter.ts";
import { transferHandlers } from "./http/transfer.ts";
import { healthHandlers } from "./http/health.ts";
import { createRateLimits } from "./http/rate-limits.ts";
import { startServer } from "./http/server.ts";
import type { HttpServer } from "./http/server.ts";
import { createRepresent } from "./http/representation.ts";
import { createResponseBudget } from "./http/response-budget.ts";
import { loadStatic } from "./http/static.ts";
import { countHandlers } from "./http/counts.ts";
import { tagHandlers } from "./http/tags.ts";
import { plantHandlers } from "./http/plants.ts";
import { createAdmission } from "./http/admission.ts";
import { sessionHandlers } from "./http/session.ts";
import { tokenHandlers } from "./http/tokens.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { addServiceMetrics } from "./service-metrics.ts";
import { createRate } from "./leaky-bucket.ts";
import { openStore } from "./open-store.ts";
import type { StoreOptions } from "./open-store.ts";
import type { Store } from "./store/store.ts";
import { createFairQueue } from "./store/fair-queue.ts";
import type { Tracing } from "./tracing/tracing.ts";
import { fileLimits } from "./transfer/file-limits.ts";

type StartOptions = Pick<StoreOptions, "log" | "metrics" | "onFatal"> &
  Readonly<{
    /** A socket that listens already. The default is to make one. */
    socketFd?: number | undefined;
    /** The folder of the built pages. The default is the project's own. */
    web?: string;
  }>;

export type Running = Readonly<{
  url: string;
  /** Where metrics are served, if they are. */
  metricsUrl: string | undefined;
  /** Where traces are sent, if they are. */
  tracesUrl: string | undefined;
  store: Store;
  /** The file of the first token; undefined once that is no longer valid. */
  tokenFile: string | undefined;
  /** The first token; undefined unless this start created it. */
  firstToken: string | undefined;
  /** Reports unready, waits for a load balancer to notice, finishes running requests, then closes the store. */
  stop(): Promise<void>;
}>;

const WEB = fileURLToPath(new URL("../dist/web", import.meta.url));

/** A revocation takes effect within this time, in milliseconds. */
const TOKEN_FRESH_MS = 500;
const TOKEN_CACHE_MAX = 10_000;

/** How often to store when tokens were last used, and how long a stop waits for that. */
const MINUTE_MS = 60_000;
const USAGE_STOP_MS_MAX = 300;

/** How many imports, exports, and requests with many changes, may run at a time. */
const IMPORTS_MAX = 8;
const EXPORTS_MAX = 8;
const BULKS_MAX = 8;

/**
 * One token may use four slots, which keep two processors busy. The fifth is free for the next token. The wait is as
 * long as that of a search.
 */
const TURNS = { slots: 5, ownerSlots: 4, waitingMax: 256, waitMs: 5000 };

/** Builds and starts the whole service. `stop` closes everything that it opens. */
export async function start(config: Config, options: StartOptions): Promise<Running> {
  const { metrics, onFatal, socketFd, web = WEB } = options;
  const contract = loadContract();
  const files = loadStatic(web);
  const tracing = await loadTracing(config, contract, options);
  const { log } = tracing ?? options;
  const opened = await openStore(config, { isServing: true, isNew: true, log, metrics, tracer: tracing?.commits, onFatal });
  const store = tracing
    ? { ...opened, plants: tracing.traced("plants", opened.plants), tokens: tracing.traced("tokens", opened.tokens) }
    : opened;
  let metricsServer: HttpServer | undefined;
  try {
    warnOfFolder(config, log);
    const { tokens } = store;
    const first = await openFirstToken({ tokens, path: firstTokenFile(config.data), random: randomBytes, now: Date.now, log });
    const usage = createUsage(tokens);
    const audit = createAudit({ log, changes: config.logChanges });
    const authenticator = createAuthenticator({
      tokens,
      freshMs: TOKEN_FRESH_MS,
      cacheMax: TOKEN_CACHE_MAX,
      now: Date.now,
    });
    const represent = createRepresent();
    const queue = createFairQueue(TURNS);
    const imports = createFairShares(IMPORTS_MAX);
    const exports = createFairShares(EXPORTS_MAX);
    const bulks = createFairShares(BULKS_MAX);
    const now = () => performance.now();
    let isDraining = false;
    const handlers = {
      ...plantHandlers({ plants: store.plants, queue, represent, audit, bodyBytesMax: config.bodyBytesMax }),
      ...changeHandlers({ plants: store.plants, running: bulks, audit, bodyBytesMax: config.bodyBytesMax }),
      ...countHandlers({ plants: store.plants, queue, represent }),
      ...tagHandlers({ plants: store.plants, queue, represent }),
      ...transferHandlers({
        plants: store.plants,
        queue,
        imports,
        exports,
        ...fileLimits(config.bodyBytesMax),
        authenticator,
        audit,
        log,
        now,
      }),
      ...tokenHandlers({ tokens, usage, audit, random: randomBytes, now: Date.now, onRevoke: first.check }),
      ...sessionHandlers(),
      ...healthHandlers({ checkStore: () => store.check(), isDraining: () => isDraining }),
      ...openapiHandlers(contract),
    };
    const limits = { bodyBytesMax: config.bodyBytesMax, isDraining: () => isDraining };
    const admission = createAdmission({
      isFull(name, owner) {
        if (name === "imports") return !imports.hasRoom(owner);
        if (name === "bulk") return !bulks.hasRoom(owner) || store.isFull("changes", owner);
        return store.isFull(name, owner);
      },
      ...limits,
    });
    const rates = createRateLimits({ ...ratesOf(config, now), log });
    const app = createApp({
      contract,
      handlers,
      files,
      authenticator,
      onAdmit(token) {
        const time = Date.now();
        usage.note(token, time);
        first.admitted(token, time);
      },
      audit,
      admission,
      responseBudget: createResponseBudget(config),
      clientAddress: clientAddress({ proxies: config.trustedProxies, header: config.trustedHeader }),
      limits: rates,
      meter: createRequestMeter(metrics),
      tracer: tracing?.requests,
      origins: config.origins,
      log,
      ...limits,
    });
    metricsServer = config.metrics && startMetricsServer(config.metrics, metrics, log);
    const server = startServer({ ...config, ...app, socketFd, portFlag: "--port", log });
    addServiceMetrics(metrics, { server, running: { import: imports, export: exports, bulk: bulks }, store, data: config.data });
    const stopMeasuring = addProcessMetrics(metrics);
    // Start the timers last: if a step above fails, nothing would clear them.
    const everyMinute = setInterval(() => {
      audit.flushChanges();
      void Promise.all([usage.flush(), first.check()]);
    }, MINUTE_MS).unref();
    const flushRefused = () => {
      audit.flushRefusals();
      rates.flush();
    };
    const everyTenSeconds = setInterval(flushRefused, FLOODS_MS).unref();
    return {
      url: server.url,
      tracesUrl: config.traces?.url,
      metricsUrl: metricsServer && `${metricsServer.url}/metrics`,
      store,
      tokenFile: first.file,
      firstToken: first.secret,
      async stop() {
        isDraining = true;
        await sleep(config.drainDelayMs);
        await server.stop(config.drainMs);
        clearInterval(everyMinute);
        clearInterval(everyTenSeconds);
        stopMeasuring();
        await metricsServer?.stop(0);
        audit.flushChanges();
        flushRefused();
        await Promise.race([usage.flush(), sleep(USAGE_STOP_MS_MAX, undefined, { ref: false })]);
        await Promise.all([tracing?.stop(), store.close()]);
      },
    };
  } catch (reason) {
    await metricsServer?.stop(0);
    await Promise.all([tracing?.stop(), store.close()]);
    throw reason;
  }
}

/** Undefined if nothing is traced: then not even the code is loaded. */
async function loadTracing(config: Config, { operations }: Contract, { metrics, log }: StartOptions): Promise<Tracing | undefined> {
  if (!config.traces) return undefined;
  const { startTracing } = await import("./tracing/tracing.ts");
  const database = config.database.kind === "sqlite" ? "sqlite" : "postgresql";
  return startTracing({ settings: config.traces, operations, database, metrics, log });
}

/** Few need metrics at a time. */
const METRICS_CONNECTIONS_MAX = 32;

function startMetricsServer(address: { host: string; port: number }, metrics: Metrics, log: Log): HttpServer {
  return startServer({
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
      todo: "Other users of this machine may read or change these: prevent that with chmod -R go=.",
    });
  }
  const unfit = database.kind === "sqlite" ? findUnfit(data) : undefined;
  if (unfit) log.warn("data_at_risk", { path: data, ...unfit });
}

/** The rate limits. Undefined means no limit. */
function ratesOf({ tokenRequestsPerMinute, addressRequestsPerMinute, refusedRequestsPerMinute }: Config, now: () => number) {
  const rate = (perMinute: number) => (perMinute === 0 ? undefined : createRate(perMinute, now));
  return { token: rate(tokenRequestsPerMinute), address: rate(addressRequestsPerMinute), refused: rate(refusedRequestsPerMinute) };
}
