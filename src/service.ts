import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createFairShares } from "./fair-shares.ts";
import { createAudit, REFUSALS_MS } from "./auth/audit.ts";
import { openFirstToken } from "./auth/first-token.ts";
import { createAuthenticator } from "./auth/authenticate.ts";
import { createUsage } from "./auth/usage.ts";
import type { Config } from "./config.ts";
import { loadContract } from "./contract.ts";
import { expectAccess, findExposed, makeFolder } from "./data-folder.ts";
import { clientAddress } from "./http/client-address.ts";
import { createApp } from "./http/app.ts";
import { openapiHandlers } from "./http/openapi.ts";
import { transferHandlers } from "./http/transfer.ts";
import { healthHandlers } from "./http/health.ts";
import { createRateLimits } from "./http/rate-limits.ts";
import { startServer } from "./http/server.ts";
import { createRepresent } from "./http/representation.ts";
import { createResponseBudget } from "./http/response-budget.ts";
import { loadStatic } from "./http/static.ts";
import { plantHandlers } from "./http/plants.ts";
import { createAdmission } from "./http/admission.ts";
import { sessionHandlers } from "./http/session.ts";
import { tagHandlers } from "./http/tags.ts";
import { tokenHandlers } from "./http/tokens.ts";
import type { Log } from "./log.ts";
import { createRate } from "./leaky-bucket.ts";
import { expectSqliteStore, findFilesFault, takeAlone } from "./store/sqlite/engine/files.ts";
import { holdLock } from "./store/sqlite/engine/lock.ts";
import { openSqliteStore } from "./store/sqlite/store.ts";
import type { Store } from "./store/store.ts";
import { createFairQueue } from "./store/fair-queue.ts";
import { parsePlant } from "./validation.ts";

type ServiceOptions = Readonly<{
  log: Log;
  /** Called when no answer can be trusted any more, with the reason: end the process at once. */
  onFatal: (reason: Error) => void;
}>;

type StartOptions = ServiceOptions &
  Readonly<{
    /** The folder of the built pages; without it, the project's own. */
    web?: string;
  }>;

export type Running = Readonly<{
  url: string;
  store: Store;
  /** The file of the first token, as long as that lets anybody in. */
  tokenFile: string | undefined;
  /** The first token, when this start made it. */
  firstToken: string | undefined;
  /** Turns unready, waits for a balancer to notice, answers what is under way, then closes the store. */
  stop(): Promise<void>;
}>;

const WEB = fileURLToPath(new URL("../dist/web", import.meta.url));

/** Within this time a revocation bites, in milliseconds. */
const TOKEN_FRESH_MS = 500;
const TOKEN_CACHE_MAX = 10_000;

/** How often it is written down when tokens were used, and how long a stop waits for that. */
const MINUTE_MS = 60_000;
const USAGE_STOP_MS_MAX = 300;

/** How many imports may run at a time. */
const IMPORTS_MAX = 8;

/** A token alone has four slots, which is as much as two processors do; the fifth is for whoever comes next. Times as those of a search. */
const TURNS = { slots: 5, ownerSlots: 4, waitingMax: 256, waitMs: 5000 };

/** Builds the whole service and starts it. Everything that it opened is closed by `stop`. */
export async function start(config: Config, { log, onFatal, web = WEB }: StartOptions): Promise<Running> {
  const contract = loadContract();
  const files = loadStatic(web);
  const store = await openStore(config, { isServing: true, isNew: true, log, onFatal });
  try {
    tellExposed(config, log);
    const { tokens } = store;
    const first = await openFirstToken({ tokens, path: firstTokenFile(config), random: randomBytes, now: Date.now, log });
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
    const now = () => performance.now();
    let isDraining = false;
    const handlers = {
      ...plantHandlers({ plants: store.plants, queue, represent, audit }),
      ...tagHandlers(store.plants, represent),
      ...transferHandlers({
        plants: store.plants,
        queue,
        imports,
        parsePlant,
        lineBytesMax: config.bodyBytesMax,
        authenticator,
        audit,
        log,
      }),
      ...tokenHandlers({ tokens, usage, audit, random: randomBytes, now: Date.now, onRevoke: first.check }),
      ...sessionHandlers(),
      ...healthHandlers({ checkStore: () => store.check(), isDraining: () => isDraining }),
      ...openapiHandlers(contract),
    };
    const limits = { bodyBytesMax: config.bodyBytesMax, isDraining: () => isDraining };
    const admission = createAdmission({
      isFull: (name, owner) => (name === "imports" ? !imports.hasRoom(owner) : store.isFull(name, owner)),
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
      clientAddress: clientAddress(config.trustedProxies),
      limits: rates,
      log,
      ...limits,
    });
    const server = startServer({ ...config, ...app, log });
    // Behind what may fail: nothing would clear them.
    const everyMinute = setInterval(() => {
      audit.flushChanges();
      void Promise.all([usage.flush(), first.check()]);
    }, MINUTE_MS).unref();
    const flushRefused = () => {
      audit.flushRefusals();
      rates.flush();
    };
    const oftener = setInterval(flushRefused, REFUSALS_MS).unref();
    return {
      url: server.url,
      store,
      tokenFile: first.file,
      firstToken: first.secret,
      async stop() {
        isDraining = true;
        await sleep(config.drainDelayMs);
        await server.stop(config.drainMs);
        clearInterval(everyMinute);
        clearInterval(oftener);
        audit.flushChanges();
        flushRefused();
        await Promise.race([usage.flush(), sleep(USAGE_STOP_MS_MAX, undefined, { ref: false })]);
        await store.close();
      },
    };
  } catch (reason) {
    await store.close();
    throw reason;
  }
}

/** How the names begin of what stands in the data folder. */
const DATA_FILES = ["plants.db", "first-token"];

/** Tells once, at start, when others on the machine may read the plants or the token, or change them. */
function tellExposed({ data }: Config, log: Log): void {
  const exposed = findExposed(data, DATA_FILES);
  if (exposed.length === 0) return;
  log.warn("data_exposed", {
    paths: exposed,
    todo: "Other users of this machine may read or change these: prevent that with chmod -R go=.",
  });
}

/** The limits of requests; undefined where there is none. */
function ratesOf({ tokenRequestsPerMinute, addressRequestsPerMinute, refusedRequestsPerMinute }: Config, now: () => number) {
  const rate = (perMinute: number) => (perMinute === 0 ? undefined : createRate(perMinute, now));
  return { token: rate(tokenRequestsPerMinute), address: rate(addressRequestsPerMinute), refused: rate(refusedRequestsPerMinute) };
}

/** Where the first token is kept. */
export function firstTokenFile({ data }: Config): string {
  return join(data, "first-token");
}

type StoreOptions = ServiceOptions &
  Readonly<{
    isServing: boolean;
    /** Whether a store may be made in a folder that has none. */
    isNew: boolean;
  }>;

/** Opens the store that the settings name. Commands that need no service use it as it is. */
export async function openStore({ data, database, queueMax, queueWaitMs }: Config, options: StoreOptions): Promise<Store> {
  if (database.kind === "sqlite" && !options.isNew) expectOwnStore(data, database.path);
  if (database.kind === "sqlite" || options.isServing) {
    makeFolder(data);
    expectAccess(data, DATA_FILES);
  }
  if (database.kind === "postgres") {
    // A tenth of the time of a start on SQLite, which needs none of it.
    const { openPostgresStore } = await import("./store/postgres/store.ts");
    return openPostgresStore({ url: database.url, queueMax, queueWaitMs, ...options });
  }
  return openSqliteStore({ path: database.path, queueMax, queueWaitMs, ...options });
}

/** Throws when there is no store, or one that this user may not use. */
function expectOwnStore(data: string, path: string): void {
  expectAccess(data, DATA_FILES);
  expectSqliteStore(path);
}

/** Takes a SQLite database for whole whose WAL is lost. Throws when there is nothing to repair, or it cannot be done so. */
export function repairStore({ data, database }: Config): void {
  if (database.kind !== "sqlite") throw new Error("Repair a PostgreSQL database with its own tools.");
  expectOwnStore(data, database.path);
  const unlock = holdLock(`${database.path}.lock`);
  try {
    const fault = findFilesFault(database.path);
    if (!fault) throw new Error(`There is nothing to repair in ${data}.`);
    if (fault.kind !== "alone") throw new Error(fault.message);
    takeAlone(database.path);
  } finally {
    unlock();
  }
}
