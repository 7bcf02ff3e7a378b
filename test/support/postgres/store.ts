import { createLog } from "../../../src/runtime/log.ts";
import type { Log } from "../../../src/runtime/log.ts";
import { createMetrics } from "../../../src/runtime/metrics.ts";
import { parseHosts } from "../../../src/store/postgres/engine/hosts.ts";
import { openPool } from "../../../src/store/postgres/engine/pool.ts";
import type { Execute } from "../../../src/store/postgres/engine/retry.ts";
import { openPostgresStore } from "../../../src/store/postgres/store.ts";
import type { Store } from "../../../src/store/store.ts";
import { startService } from "../service-process.ts";
import type { Service } from "../service-process.ts";

/** A log that collects its lines. */
export function openLog(): Log & { lines: readonly string[] } {
  const lines: string[] = [];
  return { ...createLog({ level: "info", isTerminal: false, write: (line) => lines.push(line), now: Date.now }), lines };
}

/** The store of a service, or of a command, in this process. */
export function openStore(
  url: string,
  { isServing = true, changesDays = 30, log = openLog() }: { isServing?: boolean; changesDays?: number; log?: Log } = {},
): Promise<Store> {
  return openPostgresStore({
    url,
    isServing,
    isNew: true,
    changesDays,
    queueMax: 1024,
    queueWaitMs: 5000,
    log,
    metrics: createMetrics(),
  });
}

/** A pool, and what runs one statement on it. */
export function openExecute(url: string, connectionsMax = 1) {
  const pool = openPool({ hosts: parseHosts(url), connectionsMax, serverMs: 30_000 });
  const execute: Execute = (statement, values) => pool.query(statement, values, { connectMs: 15_000, statementMs: 30_000 });
  return { ...pool, execute };
}

type ServeOptions = NonNullable<Parameters<typeof startService>[0]>;

/** A service as a process on a database, which `killServices` ends. */
export function serveOn(database: string, { flags = [], ...options }: ServeOptions = {}): Promise<Service> {
  return startService({ ...options, flags: ["--database", database, ...flags] });
}

const REPLICAS = 3;

type How = Readonly<{ body?: unknown; headers?: Record<string, string>; secret?: string }>;

/** Services in separate processes on one database, each with its own folder. `killServices` ends them. */
export async function startReplicas(database: string, options: Parameters<typeof serveOn>[1] = {}) {
  const services = await Promise.all(Array.from({ length: REPLICAS }, () => serveOn(database, options)));
  // One of them has made it.
  const token = services.find((service) => service.token !== "")!.token;

  /** Sends a request to one of them, with the first token by default. */
  function ask(at: number, method: string, path: string, { body, headers = {}, secret = token }: How = {}): Promise<Response> {
    const all = { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers };
    return fetch(`${services[at]!.url}${path}`, { method, headers: all, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }
  /** The status of each response. */
  function askAll(method: string, path: string, how?: How): Promise<number[]> {
    return Promise.all(services.map(async (_, at) => (await ask(at, method, path, how)).status));
  }
  return { services, ask, askAll };
}
