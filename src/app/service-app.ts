import { randomBytes } from "node:crypto";
import type { Audit } from "../auth/audit.ts";
import { createAuthenticator } from "../auth/authenticate.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { FirstToken } from "../auth/first-token.ts";
import type { Usage } from "../auth/usage.ts";
import { PAST_TURNS, TURNS } from "./concurrency.ts";
import type { Config } from "./config.ts";
import type { Contract } from "../domain/contract.ts";
import type { FairShares } from "../runtime/fair-shares.ts";
import { createAdmission } from "../http/admission.ts";
import type { Admission } from "../http/admission.ts";
import { App } from "../http/app.ts";
import { bulkHandlers } from "../http/bulk-changes.ts";
import { changeHandlers } from "../http/changes.ts";
import { clientAddress } from "../http/client-address.ts";
import { countHandlers } from "../http/counts.ts";
import { exportHandlers } from "../http/export.ts";
import { Streams } from "../http/feed/streams.ts";
import { healthHandlers } from "../http/health.ts";
import { historyHandlers } from "../http/history.ts";
import { importHandlers } from "../http/import.ts";
import { openapiHandlers } from "../http/openapi.ts";
import { listHandlers } from "../http/plant-lists.ts";
import { plantHandlers } from "../http/plants.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import { createRepresent } from "../http/representation.ts";
import { createRequestMeter } from "../http/request-meter.ts";
import { createResponseBudget } from "../http/response-budget.ts";
import type { Handlers } from "../http/router.ts";
import type { Static } from "../http/static.ts";
import { toConnectionsMax } from "../http/server.ts";
import { suggestionHandlers } from "../http/suggestions.ts";
import { tagHandlers } from "../http/tags.ts";
import { tokenHandlers } from "../http/tokens.ts";
import type { Log } from "../runtime/log.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { FairQueue } from "../store/fair-queue.ts";
import { queueHistory } from "../store/queued-history.ts";
import { queuePlants } from "../store/queued-plants.ts";
import type { Store } from "../store/store.ts";
import type { RequestTracer } from "../tracing/request-tracer.ts";
import { fileLimits } from "../files/row.ts";

type ServiceAppOptions = Readonly<{
  config: Config;
  contract: Contract;
  files: Static;
  store: Store;
  first: FirstToken;
  usage: Usage;
  audit: Audit;
  limits: RateLimits;
  /** The long requests that are running, by their kind. */
  running: Readonly<Record<"import" | "export" | "bulk", FairShares>>;
  tracer: RequestTracer | undefined;
  metrics: Metrics;
  log: Log;
  isDraining: () => boolean;
}>;

/** @limit tokens: tokens that authentication remembers */
const TOKEN_CACHE_MAX = 10_000;

type Shared = Readonly<{ authenticator: Authenticator; queue: FairQueue; pastQueue: FairQueue; streams: Streams }>;

export function createServiceApp(options: ServiceAppOptions): Readonly<{ app: App; streams: Streams }> {
  const { config, store, first, usage, metrics, log } = options;
  const authenticator = createAuthenticator({
    tokens: store.tokens,
    cacheMax: TOKEN_CACHE_MAX,
    now: Date.now,
  });
  const queue = new FairQueue(TURNS);
  const pastQueue = new FairQueue(PAST_TURNS);
  const historyFor = queueHistory(store.history, { queue, pastQueue, noTimeout: true });
  const connectionsMax = toConnectionsMax(config.connectionsMax);
  const streams = new Streams({ history: store.history, historyFor, authenticator, connectionsMax, metrics, log });
  const app = new App({
    ...options,
    handlers: handlersOf(options, { authenticator, queue, pastQueue, streams }),
    authenticator,
    onAdmit(token) {
      const time = Date.now();
      usage.note(token, time);
      first.admitted(token, time);
    },
    admission: admissionOf(options),
    responseBudget: createResponseBudget(config),
    clientAddress: clientAddress({ proxies: config.trustedProxies, header: config.trustedHeader }),
    meter: createRequestMeter(metrics),
    origins: config.origins,
    bodyBytesMax: config.bodyBytesMax,
  });
  return { app, streams };
}

function handlersOf(options: ServiceAppOptions, { authenticator, queue, pastQueue, streams }: Shared): Handlers {
  const { config, contract, store, first, usage, audit, running, log, isDraining } = options;
  const { plants, tokens, history } = store;
  const { bodyBytesMax } = config;
  const represent = createRepresent();
  const historyFor = queueHistory(history, { queue, pastQueue, noTimeout: false });
  const plantsFor = queuePlants(plants, { queue, noTimeout: false });
  // A running transfer is never refused a turn: there are only a few at a time.
  const transfers = { plantsFor: queuePlants(plants, { queue, noTimeout: true }), authenticator, audit, now: () => performance.now() };
  return {
    ...plantHandlers({ plants, audit, bodyBytesMax }),
    ...listHandlers({ plants, plantsFor, represent }),
    ...bulkHandlers({ plants, running: running.bulk, audit, bodyBytesMax }),
    ...changeHandlers({ history, historyFor, streams, represent }),
    ...historyHandlers({ historyFor, tokens, represent }),
    ...countHandlers({ plantsFor, represent }),
    ...suggestionHandlers({ plantsFor, represent }),
    ...tagHandlers({ plants, plantsFor, represent }),
    ...importHandlers({ ...transfers, running: running.import, ...fileLimits(bodyBytesMax) }),
    ...exportHandlers({ ...transfers, history, running: running.export, log }),
    ...tokenHandlers({ tokens, usage, audit, random: randomBytes, now: Date.now, onRevoke: first.check }),
    ...healthHandlers({ checkStore: () => store.check(), isDraining }),
    ...openapiHandlers(contract),
  };
}

function admissionOf({ config: { bodyBytesMax }, store, running, isDraining }: ServiceAppOptions): Admission {
  return createAdmission({
    isFull(name, owner) {
      if (name === "imports") return !running.import.hasRoom(owner);
      if (name === "bulk") return !running.bulk.hasRoom(owner) || store.isFull("changes", owner);
      return store.isFull(name, owner);
    },
    bodyBytesMax,
    isDraining,
  });
}
