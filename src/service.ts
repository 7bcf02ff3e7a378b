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
  /** Called with the reason when no response can be trusted any more: end the process at once. */
  onFatal: (reason: Error) => void;
}>;

type StartOptions = ServiceOptions &
  Readonly<{
    /** The folder of the built pages. The default is the project's own. */
    web?: string;
  }>;

export type Running = Readonly<{
  url: string;
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

/** How many imports may run at a time. */
const IMPORTS_MAX = 8;

/**
 * One token may use four slots, which keep two processors busy. The fifth is free for the next token. The wait is as
 * long as that of a search.
 */
const TURNS = { slots: 5, ownerSlots: 4, waitingMax: 256, waitMs: 5000 };

/** Builds and starts the whole service. `stop` closes everything that it opens. */
export async function start(config: Config, { log, onFatal, web = WEB }: StartOptions): Promise<Running> {
  const contract = loadContract();
  const files = loadStatic(web);
  const store = await openStore(config, { isServing: true, isNew: true, log, onFatal });
  try {
    warnIfExposed(config, log);
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
    // Start the timers last: if a step above fails, nothing would clear them.
    const everyMinute = setInterval(() => {
      audit.flushChanges();
      void Promise.all([usage.flush(), first.check()]);
    }, MINUTE_MS).unref();
    const flushRefused = () => {
      audit.flushRefusals();
      rates.flush();
    };
    const everyTenSeconds = setInterval(flushRefused, REFUSALS_MS).unref();
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
        clearInterval(everyTenSeconds);
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

/** What the names of the files in the data folder start with. */
const DATA_FILES = ["plants.db", "first-token"];

/** Warns at start if other users of the machine may read or change the plants or the token. */
function warnIfExposed({ data }: Config, log: Log): void {
  const exposed = findExposed(data, DATA_FILES);
  if (exposed.length === 0) return;
  log.warn("data_exposed", {
    paths: exposed,
    todo: "Other users of this machine may read or change these: prevent that with chmod -R go=.",
  });
}

/** The rate limits. Undefined means no limit. */
function ratesOf({ tokenRequestsPerMinute, addressRequestsPerMinute, refusedRequestsPerMinute }: Config, now: () => number) {
  const rate = (perMinute: number) => (perMinute === 0 ? undefined : createRate(perMinute, now));
  return { token: rate(tokenRequestsPerMinute), address: rate(addressRequestsPerMinute), refused: rate(refusedRequestsPerMinute) };
}

/** The path of the file with the first token. */
export function firstTokenFile({ data }: Config): string {
  return join(data, "first-token");
}

type StoreOptions = ServiceOptions &
  Readonly<{
    isServing: boolean;
    /** Whether to create a store if the folder has none. */
    isNew: boolean;
  }>;

/** Opens the store that the settings name. Commands that need no service use it directly. */
export async function openStore({ data, database, queueMax, queueWaitMs }: Config, options: StoreOptions): Promise<Store> {
  if (database.kind === "sqlite" && !options.isNew) expectOwnStore(data, database.path);
  if (database.kind === "sqlite" || options.isServing) {
    makeFolder(data);
    expectAccess(data, DATA_FILES);
  }
  if (database.kind === "postgres") {
    // Loading this takes a tenth of the start time, and SQLite does not need it.
    const { openPostgresStore } = await import("./store/postgres/store.ts");
    return openPostgresStore({ url: database.url, queueMax, queueWaitMs, ...options });
  }
  return openSqliteStore({ path: database.path, queueMax, queueWaitMs, ...options });
}

/** Throws if there is no store, or this user may not use it. */
function expectOwnStore(data: string, path: string): void {
  expectAccess(data, DATA_FILES);
  expectSqliteStore(path);
}

/** Accepts a SQLite database without its lost WAL. Throws if there is nothing to repair, or this cannot repair it. */
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
